// Copies rows that start on any element to rows that start on 128 bytes, a run of words a warp.
#include "kernels/cuda/gemm/engine/pack.hpp"

#include <algorithm>

#include "kernels/cuda/check.hpp"

namespace tidemark {
namespace {

constexpr std::uint32_t kThreads = 256;
constexpr std::uint32_t kCtasAnSm = 4;      // 64 KiB on their way, an SM
constexpr std::uint64_t kRowElements = 64;  // 128 bytes: a line of L2, a span of the swizzle
constexpr std::uint64_t kBytes = sizeof(std::uint16_t);

bool starts_on_16(const std::byte* base, std::uint64_t pitch) {
  return reinterpret_cast<std::uintptr_t>(base) % 16 == 0 && pitch * kBytes % 16 == 0;
}

/// Words of rows whose neighbors in memory are the operand's, too.
struct InnerWords {
  __device__ __forceinline__ std::uint32_t operator()(const std::uint32_t* at) const {
    return __ldcs(at);  // nobody reads them again: they are the first to leave the caches
  }
};

/// Words of which perhaps one half only is the operand's: the other may be another buffer's, or no
/// memory at all.
struct EdgeWords {
  const std::byte* begin;
  const std::byte* end;

  __device__ __forceinline__ std::uint32_t operator()(const std::uint32_t* at) const {
    const auto* const low = reinterpret_cast<const std::byte*>(at);
    const std::byte* const high = low + 2;
    if (low >= begin && high + 2 <= end) return *at;
    std::uint32_t word = 0;
    if (low >= begin && high <= end) word = *reinterpret_cast<const std::uint16_t*>(low);
    if (high >= begin && high + 2 <= end)
      word |= std::uint32_t{*reinterpret_cast<const std::uint16_t*>(high)} << 16;
    return word;
  }
};

/// All lanes of a warp copy `count` words of a row, from anywhere on to where they start on 4
/// bytes. Words of memory are read whole, by `load`, also those that are only half the run's; where
/// it starts in the middle of one, a word is put together from two neighbors' halves.
template <class Load>
__device__ __forceinline__ void copy_run(const std::byte* from, std::uint32_t* to,
                                         std::uint32_t count, const Load& load) {
  const std::uint32_t lane = threadIdx.x % 32;
  const auto off = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(from) & 2);
  const auto* const words = reinterpret_cast<const std::uint32_t*>(from - off) + lane;
  // One word more where they lie across, and so perhaps one step more.
  const std::uint32_t read = count + off / 2;
  std::uint32_t loaded[kRunSteps + 1];
#pragma unroll
  for (std::uint32_t i = 0; i <= kRunSteps; ++i)
    loaded[i] = i * 32 + lane < read ? load(words + i * 32) : 0;
#pragma unroll
  for (std::uint32_t i = 0; i < kRunSteps; ++i) {
    const std::uint32_t first = lane == 0 ? loaded[i + 1] : loaded[i];
    const std::uint32_t next = __shfl_sync(0xffffffffU, first, lane + 1);
    if (i * 32 + lane < count) to[i * 32 + lane] = __funnelshift_r(loaded[i], next, off * 8);
  }
}

/// Warp `warp` of `warps` copies its runs: every `warps`-th one.
__device__ void pack_rows(const PackedRows& rows, const RowRuns& runs, std::uint32_t warp,
                          std::uint32_t warps) {
  const std::uint64_t last = rows.rows - 1;
  const std::byte* const end = rows.from + (last * rows.from_pitch + rows.elements) * kBytes;
  for (std::uint64_t at = warp; at < rows.rows * runs.runs; at += warps) {
    const std::uint64_t index = at / runs.runs;
    // The last row comes first: read with more care, it takes longer.
    const std::uint64_t row = index == 0 ? last : index - 1;
    const auto first = static_cast<std::uint32_t>(at % runs.runs) * runs.run_words;
    const std::uint32_t count = min(runs.run_words, runs.words - first);
    const std::byte* const from = rows.from + (row * rows.from_pitch + 2 * first) * kBytes;
    std::byte* const to = rows.to + (row * rows.to_pitch + 2 * first) * kBytes;
    auto* const words = reinterpret_cast<std::uint32_t*>(to);
    if (row == 0 || row == last || rows.elements == 1)
      copy_run(from, words, count, EdgeWords{rows.from, end});
    else
      copy_run(from, words, count, InnerWords{});
  }
}

__global__ void __launch_bounds__(kThreads, kCtasAnSm)
    pack(const __grid_constant__ PackedRows a, const __grid_constant__ RowRuns a_runs,
         const __grid_constant__ PackedRows b, const __grid_constant__ RowRuns b_runs) {
  const std::uint32_t warp = (blockIdx.x * kThreads + threadIdx.x) / 32;
  const std::uint32_t warps = gridDim.x * kThreads / 32;
  pack_rows(a, a_runs, warp, warps);
  // The warps that had one run of A less than the others begin with B.
  const auto busy = static_cast<std::uint32_t>(a.rows * a_runs.runs % warps);
  pack_rows(b, b_runs, warp < busy ? warp + warps - busy : warp - busy, warps);
}

}  // namespace

PackedRows packed_rows(const LocalGemm& gemm, GemmOperand operand) {
  const bool is_a = operand == GemmOperand::a;
  const std::byte* const from = is_a ? gemm.a : gemm.b;
  const std::uint64_t pitch = is_a ? gemm.pitch : gemm.pitch_of_b();
  if (is_fp8(gemm.element) || starts_on_16(from, pitch)) return {};
  const bool k_major = (is_a ? gemm.a_major : gemm.b_major) == Major::k;
  const std::uint64_t indices = is_a ? gemm.m : gemm.n;
  PackedRows packed{.from = from,
                    .rows = k_major ? indices : gemm.k,
                    .elements = k_major ? gemm.k : indices,
                    .from_pitch = pitch};
  packed.to_pitch = (packed.elements + kRowElements - 1) / kRowElements * kRowElements;
  return packed;
}

void launch_pack(const PackedRows& a, const PackedRows& b, std::uint32_t sm_budget,
                 cudaStream_t stream) {
  const RowRuns a_runs = runs_of(a.elements);
  const RowRuns b_runs = runs_of(b.elements);
  const std::uint64_t runs = a.rows * a_runs.runs + b.rows * b_runs.runs;
  if (runs == 0) return;
  int device = 0;
  int multiprocessors = 0;
  cuda_check(cudaGetDevice(&device), "ask for the current GPU");
  cuda_check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
             "ask for the number of SMs");
  // Nothing makes CTAs share an SM while another is free: a budget is one of CTAs.
  const std::uint64_t most =
      sm_budget != 0 ? sm_budget : static_cast<std::uint64_t>(multiprocessors) * kCtasAnSm;
  const std::uint64_t ctas = std::min(most, runs / (kThreads / 32) + 1);
  pack<<<static_cast<unsigned>(ctas), kThreads, 0, stream>>>(a, a_runs, b, b_runs);
  cuda_check(cudaGetLastError(), "launch the kernel that packs rows");
}

}  // namespace tidemark
