// Copies rows that start on any element to rows that start on 128 bytes, a run of words a warp, and
// hands rows that are packed beside a product over to those that load them.
#pragma once

#include <cstdint>
#include <cuda/atomic>
#include <cuda/ptx>

#include "kernels/cuda/gemm/engine/pack/pack.hpp"
#include "kernels/cuda/gemm/ladder/parts.cuh"
#include "kernels/cuda/ptx/cache_hint.cuh"

namespace tidemark::kernels {

/// A run: `count` words of one row, from anywhere on to where they start on 4 bytes.
struct Run {
  const std::byte* from = nullptr;
  std::uint32_t* to = nullptr;
  std::uint32_t count = 0;
};

__device__ __forceinline__ Run run_of(const PackedRows& rows, std::uint32_t row,
                                      std::uint32_t first, std::uint32_t count) {
  constexpr std::uint64_t kBytes = sizeof(std::uint16_t);
  return {
      .from = rows.from + (row * rows.from_pitch + 2 * first) * kBytes,
      .to = reinterpret_cast<std::uint32_t*>(rows.to + (row * rows.to_pitch + 2 * first) * kBytes),
      .count = count};
}

/// Words of rows whose neighbours in memory are the operand's, too.
struct InnerWords {
  __device__ __forceinline__ std::uint32_t operator()(const std::uint32_t* at) const {
    return __ldcs(at);  // nobody reads them again: they are the first to leave the caches
  }
};

/// All lanes of a warp copy a run of at most 32 x kSteps words, or of so many where kWhole. Words
/// of memory are read whole, by `load`, also those that are only half the run's; where it starts in
/// the middle of one, a word is put together from two neighbours' halves. What `stays` is the last
/// to leave L2.
template <std::uint32_t kSteps, bool kWhole, class Load>
__device__ __forceinline__ void copy_run(const Run& run, std::uint32_t lane, bool stays,
                                         const Load& load) {
  const auto off = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(run.from) & 2);
  const auto* const words = reinterpret_cast<const std::uint32_t*>(run.from - off) + lane;
  std::uint32_t* const to = run.to + lane;
  // One word more where they lie across, and so perhaps one step more.
  const std::uint32_t read = run.count + off / 2;
  const std::uint64_t policy = cache_policy(CacheHint::evict_last);
  std::uint32_t loaded[kSteps + 1];
#pragma unroll
  for (std::uint32_t i = 0; i <= kSteps; ++i)
    loaded[i] = kWhole || i * 32 + lane < read ? load(words + i * 32) : 0;
#pragma unroll
  for (std::uint32_t i = 0; i < kSteps; ++i) {
    const std::uint32_t given = lane == 0 ? loaded[i + 1] : loaded[i];
    const std::uint32_t next = __shfl_sync(0xffffffffU, given, lane + 1);
    if (!kWhole && i * 32 + lane >= run.count) continue;
    const std::uint32_t word = __funnelshift_r(loaded[i], next, off * 8);
    if (stays)
      store_word_with_policy(to + i * 32, word, policy);
    else
      to[i * 32] = word;
  }
}

using WordOfGpu = cuda::atomic_ref<std::uint32_t, cuda::thread_scope_device>;

/// Rows that a warp takes on at a time, all of one band: what it waits for between them, a word of
/// memory and its own stores, it waits for once.
inline constexpr std::uint32_t kRowsTaken = 4;
static_assert(kBandRows % kRowsTaken == 0);

/// A warp packs rows of `ahead` until none is left that nobody has taken on; all lanes call
/// `between()` before each row. Rows are taken on in order by warps that run: whoever waits for a
/// row waits for no block that has yet to begin. None of them is the operand's first or last, so
/// that words around a row may be read.
template <class Between>
__device__ __forceinline__ void pack_ahead(const RowsAhead& ahead, const Between& between) {
  if (!ahead.any()) return;
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint32_t all = static_cast<std::uint32_t>(ahead.rows.rows) - 1;  // the last is there
  for (;;) {
    std::uint32_t row = 0;
    if (lane == 0)
      row = ahead.first + WordOfGpu(*ahead.taken).fetch_add(kRowsTaken, cuda::memory_order_relaxed);
    row = __shfl_sync(0xffffffffU, row, 0);
    if (row >= all) return;
    const std::uint32_t end = min(row + kRowsTaken, all);
#pragma unroll 1
    for (std::uint32_t at = row; at < end; ++at) {
      between();
#pragma unroll 1
      for (std::uint32_t run = 0; run < ahead.runs.words; run += kAheadWords)
        copy_run<kAheadSteps, true>(
            run_of(ahead.rows, at, min(run, ahead.runs.words - kAheadWords), kAheadWords), lane,
            ahead.stays, InnerWords{});
    }
    // TMA reads through the async proxy: without this fence it may find the rows as they were.
    cuda::ptx::fence_proxy_async(cuda::ptx::space_global);
    __syncwarp();  // without it lane 0 could count what other lanes have yet to write
    // Release: without it the rows could be written after they are counted.
    if (lane == 0)
      WordOfGpu(ahead.done[row / kBandRows]).fetch_add(end - row, cuda::memory_order_release);
  }
}

/// Orders what follows, copies by TMA included, behind a look that found rows packed; for every
/// thread that looked. Without the first fence the rows could be read as they were before they were
/// counted. The second is the other half of the one in pack_ahead(): reads of the async proxy come
/// after the look.
__device__ __forceinline__ void take_packed_rows() {
  cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
  cuda::ptx::fence_proxy_async(cuda::ptx::space_global);
}

/// All lanes of a warp look whether rows `begin` to `end` of an operand are packed: false in all of
/// them where one is not. What lies behind the operand nobody packs.
__device__ __forceinline__ bool are_packed(const RowsAhead& ahead, std::uint32_t begin,
                                           std::uint32_t end) {
  bool missing = false;
  if (ahead.any()) {
    const std::uint32_t behind = min(end, static_cast<std::uint32_t>(ahead.rows.rows));
    const std::uint32_t bands = (behind + kBandRows - 1) / kBandRows;
    for (std::uint32_t band = max(begin, ahead.first) / kBandRows + threadIdx.x % 32; band < bands;
         band += 32)
      missing |=
          WordOfGpu(ahead.done[band]).load(cuda::memory_order_relaxed) != ahead.rows_of(band);
  }
  return __all_sync(0xffffffffU, !missing);
}

/// A producer thread waits until `kRows` rows of an operand from `begin` on are packed; false as of
/// wait_patiently(), but for what only other blocks know: who packs, packs all. What lies behind
/// the operand nobody packs.
template <std::uint32_t kRows>
__device__ __forceinline__ bool wait_for_rows(const RowsAhead& ahead, std::uint32_t begin,
                                              const Patience& patience) {
  namespace ptx = cuda::ptx;
  constexpr std::uint32_t kMostBands = (kRows - 2) / kBandRows + 2;
  const std::uint32_t end = min(begin + kRows, static_cast<std::uint32_t>(ahead.rows.rows));
  if (!ahead.any() || end <= max(begin, ahead.first)) return true;
  const std::uint32_t first = max(begin, ahead.first) / kBandRows;
  const std::uint32_t last = (end - 1) / kBandRows;
  const std::uint64_t start = ptx::get_sreg_globaltimer();
  for (;;) {
    // All words are on their way at once: one after the other takes longer than the ring lasts.
    std::uint32_t missing = 0;
#pragma unroll
    for (std::uint32_t i = 0; i < kMostBands; ++i) {
      const std::uint32_t band = min(first + i, last);
      missing |= WordOfGpu(ahead.done[band]).load(cuda::memory_order_relaxed) ^ ahead.rows_of(band);
    }
    if (missing == 0) break;
    if (patience.lost()) return false;
    if (ptx::get_sreg_globaltimer() - start <= kKernelWaitNs) continue;
    *patience.abandoned = 1;
    *patience.timed_out = timed_out_word({.producer = true, .block = blockIdx.x});
    return false;
  }
  take_packed_rows();
  return true;
}

}  // namespace tidemark::kernels
