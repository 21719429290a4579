// The end of a tile: sums that another cluster shares are handed over (stream-K), alpha and beta
// are applied, and the sums leave for C through staging boxes, by TMA or, where TMA cannot write,
// by a warp's plain stores.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstddef>
#include <cstdint>
#include <cuda/atomic>
#include <cuda/ptx>
#include <type_traits>
#include <utility>

#include "kernels/cuda/gemm/c_tiles.hpp"
#include "kernels/cuda/gemm/engine/engine.hpp"
#include "kernels/cuda/gemm/ladder/parts.cuh"
#include "kernels/cuda/ptx/wgmma.cuh"

namespace tidemark {

using WordOfGpu = cuda::atomic_ref<std::uint32_t, cuda::thread_scope_device>;

// Stream-K: a tile whose K two clusters share. The first part is the first that its cluster works
// on of its share, the last part the last one of the next cluster's, which therefore finds the sums
// of the first and adds its own: nobody waits but for a cluster that began late. By GPC that may be
// one that has yet to begin: where others hold half of the SMs, all that run could wait for such.

/// Threads that hold the sums of a tile.
template <TileShape kShape>
inline constexpr std::uint32_t kHolders = 128 * warpgroups_of_tile(kShape);

/// What a warp of this CTA leaves, or finds, of the CTA of its rank in `cluster`: with ping-pong
/// whichever warpgroup has the tile.
struct GivenSums {
  float4* sums;  // this thread's first; the next is kHolders further on
  std::uint32_t* word;
};
template <TileShape kShape>
__device__ __forceinline__ GivenSums given_sums(const EngineProblem& p, const EnginePlace& place,
                                                std::uint32_t cluster) {
  const std::uint32_t cta = cluster * kShape.cluster_m + place.rank;
  const std::uint32_t thread = threadIdx.x % kHolders<kShape>;
  return {reinterpret_cast<float4*>(p.sums) + cta * (kGivenBytes / sizeof(float4)) + thread,
          p.given + cta * kEngineConsumerWarps + thread / 32};
}

/// A warp leaves its sums for the next cluster.
template <TileShape kShape, std::uint32_t kHigh, std::uint32_t kCount>
__device__ __forceinline__ void give_sums(const float (&d)[kHigh][kCount], const EngineProblem& p,
                                          const EnginePlace& place) {
  static_assert(kHigh * kCount * kHolders<kShape> * sizeof(float) <= kGivenBytes);
  const GivenSums to = given_sums<kShape>(p, place, place.first);
#pragma unroll
  for (std::uint32_t high = 0; high < kHigh; ++high)
#pragma unroll
    for (std::uint32_t i = 0; i < kCount; i += 4)
      __stcg(to.sums + (high * kCount + i) / 4 * kHolders<kShape>,
             make_float4(d[high][i], d[high][i + 1], d[high][i + 2], d[high][i + 3]));
  __syncwarp();  // without it lane 0 could tell of sums that other lanes have yet to write
  // Release: without it the word could be seen before the sums.
  if (threadIdx.x % 32 == 0) WordOfGpu(*to.word).store(1, cuda::memory_order_release);
}

/// A warp adds the sums that the cluster before has left, behind a wait as wait_within_bound().
/// After one that failed it adds what it finds: the host discards C.
template <TileShape kShape, std::uint32_t kHigh, std::uint32_t kCount>
__device__ __forceinline__ void take_sums(float (&d)[kHigh][kCount], const EngineProblem& p,
                                          const EnginePlace& place, const WaitBound& bound) {
  const GivenSums from = given_sums<kShape>(p, place, place.first - 1);
  const std::uint64_t start = cuda::ptx::get_sreg_globaltimer();
  // All lanes leave the loop together: else the compiler takes the descriptors of wgmma for values
  // that differ between lanes (ci/check_machine_code). Acquire: without it the sums could be read
  // as they were before the word was seen.
  while (__any_sync(0xffffffffU, WordOfGpu(*from.word).load(cuda::memory_order_acquire) == 0)) {
    const bool late = cuda::ptx::get_sreg_globaltimer() - start > bound.bound_ns;
    if (late && !bound.lost())
      *bound.timed_out = timed_out_word({.producer = false, .block = blockIdx.x});
    if (late) *bound.abandoned = 1;
    if (__any_sync(0xffffffffU, late || bound.lost() || *bound.timed_out != 0)) break;
  }
  if (threadIdx.x % 32 == 0) WordOfGpu(*from.word).store(0, cuda::memory_order_relaxed);
#pragma unroll
  for (std::uint32_t high = 0; high < kHigh; ++high)
#pragma unroll
    for (std::uint32_t i = 0; i < kCount; i += 4) {
      const float4 given = __ldcg(from.sums + (high * kCount + i) / 4 * kHolders<kShape>);
      d[high][i] += given.x;
      d[high][i + 1] += given.y;
      d[high][i + 2] += given.z;
      d[high][i + 3] += given.w;
    }
}

// alpha and beta.

/// Two neighbours of one row of C, read as one access where both lie in it.
__device__ __forceinline__ float value_of(const float* c) { return *c; }
__device__ __forceinline__ float value_of(const __nv_bfloat16* c) { return __bfloat162float(*c); }
__device__ __forceinline__ float value_of(const __half* c) { return __half2float(*c); }
__device__ __forceinline__ float2 read_pair(const float* c, bool both) {
  return both ? *reinterpret_cast<const float2*>(c) : float2{*c, 0};
}
__device__ __forceinline__ float2 read_pair(const __nv_bfloat16* c, bool both) {
  return both ? __bfloat1622float2(*reinterpret_cast<const __nv_bfloat162*>(c))
              : float2{__bfloat162float(*c), 0};
}
__device__ __forceinline__ float2 read_pair(const __half* c, bool both) {
  return both ? __half22float2(*reinterpret_cast<const __half2*>(c)) : float2{__half2float(*c), 0};
}

/// sums = alpha sums + beta C, for 64 rows from `row0` and the columns from `column0`. C is not
/// read where beta is 0: it may hold anything, NaN included.
template <class Out, std::uint32_t kCount>
__device__ __forceinline__ void blend(float (&d)[kCount], const EngineProblem& p,
                                      std::uint32_t row0, std::uint32_t column0) {
#pragma unroll
  for (std::uint32_t i = 0; i < kCount; ++i) d[i] *= p.alpha;
  if (p.beta == 0) return;
  const std::uint32_t thread = threadIdx.x % 128;
  const std::uint32_t row = row0 + thread / 32 * 16 + thread % 32 / 4;
  const std::uint32_t column = column0 + thread % 4 * 2;
  const Out* const upper = static_cast<const Out*>(p.c) + row * p.ldc + column;
  const Out* const lower = upper + 8 * p.ldc;
  const auto add = [&](std::uint32_t i, const Out* at, bool both) {
    // Pairs lie on their own size where rows of C start on 16 bytes: columns are even.
    if (p.c_by_tma) {
      const float2 c = read_pair(at, both);
      d[i] = fmaf(p.beta, c.x, d[i]);
      if (both) d[i + 1] = fmaf(p.beta, c.y, d[i + 1]);
    } else {
      d[i] = fmaf(p.beta, value_of(at), d[i]);
      if (both) d[i + 1] = fmaf(p.beta, value_of(at + 1), d[i + 1]);
    }
  };
#pragma unroll
  for (std::uint32_t i = 0; i < kCount; i += 4) {
    const std::uint32_t at = column + 2 * i;
    const bool both = at + 1 < p.n;
    if (at < p.n && row < p.m) add(i, upper + 2 * i, both);
    if (at < p.n && row + 8 < p.m) add(i + 2, lower + 2 * i, both);
  }
}

// Rows of C that TMA cannot write.

/// Columns of C in a staging box.
template <class Out>
inline constexpr std::uint32_t kBoxColumns = kStagingRowBytes / sizeof(Out);

/// Writes a filled box to C by plain stores: neighbouring lanes write neighbouring words, wherever
/// a row starts. All of the box lies in C. No branch depends on where rows start, and instructions
/// are few: behind the last tile of a block nothing else is left to hide them.
template <class Out>
__device__ __forceinline__ void carry_whole_box(const std::byte* box, const EngineProblem& p,
                                                std::uint32_t row0, std::uint32_t column,
                                                std::uint32_t lane) {
  std::uint64_t pitch = p.ldc * sizeof(Out);
  // What follows from these is reckoned here. The compiler would do so before the loop of wgmma,
  // which has no registers left to keep it.
  asm volatile("" : "+l"(pitch), "+r"(lane));
  std::byte* const corner =
      static_cast<std::byte*>(p.c) + row0 * pitch + column * std::uint64_t{sizeof(Out)};
  // A row of 16-bit elements may begin in the middle of a word of memory, as row r + 8 does where
  // row r does. Then the first element of the box's row and its last go alone, and a lane's word is
  // made of its own second element and its neighbour's first. That is read, not shuffled: a shuffle
  // here, which each warp runs apart, costs the compiler its proof that the descriptors of wgmma
  // are uniform (ci/check_machine_code).
  const bool even_across = reinterpret_cast<std::uintptr_t>(corner) % 4 != 0;
  const bool odd_across = even_across != (pitch % 4 != 0);
  const std::uint64_t odd_step = pitch + (odd_across ? 2 : 0) - (even_across ? 2 : 0);
  const std::uint64_t even_step = pitch + (even_across ? 2 : 0) - (odd_across ? 2 : 0);
  const std::uint32_t own = 4 * lane;  // byte of a row
  const std::uint32_t neighbours = min(own + 4, kStagingRowBytes - 4);
  std::byte* to = corner + own + (even_across ? 2 : 0);  // on 4 bytes
  const auto carry = [&](const std::byte* at, std::uint32_t swizzle, std::byte* there,
                         bool across) {
    const auto word = *reinterpret_cast<const std::uint32_t*>(at + (own ^ swizzle));
    if constexpr (sizeof(Out) == 4) {
      *reinterpret_cast<std::uint32_t*>(there) = word;
    } else {
      const auto next = *reinterpret_cast<const std::uint32_t*>(at + (neighbours ^ swizzle));
      const std::uint32_t moved = __funnelshift_r(word, next, across ? 16 : 0);
      if (!across || lane != 31) *reinterpret_cast<std::uint32_t*>(there) = moved;
      auto* const element = reinterpret_cast<std::uint16_t*>(there);
      if (across && lane == 31) element[0] = static_cast<std::uint16_t>(moved);
      if (across && lane == 0) element[-1] = static_cast<std::uint16_t>(word);
    }
  };
  const auto carry_two = [&](std::uint32_t row, bool across) {  // and eight rows on
    const std::byte* const at = box + row * kStagingRowBytes;
    const std::uint32_t swizzle = row * 16;  // staged_chunk() of rows below 8
    carry(at, swizzle, to, across);
    carry(at + kEightRowsOn, swizzle, to + 8 * pitch, across);
  };
#pragma unroll 1
  for (std::uint32_t row = 0; row < 8; row += 2) {
    carry_two(row, even_across);
    to += odd_step;
    carry_two(row + 1, odd_across);
    to += even_step;
  }
}

/// The same, element by element, of a box that reaches out of C; its first row and column lie in C.
template <class Out>
__device__ __forceinline__ void carry_clipped_box(const std::byte* box, const EngineProblem& p,
                                                  std::uint32_t row0, std::uint32_t column,
                                                  std::uint32_t lane) {
  constexpr std::uint32_t kColumns = kBoxColumns<Out>;
  constexpr std::uint32_t kPerWord = 4 / sizeof(Out);
  const std::uint32_t rows = min(p.m - row0, kStagingRows);
  const std::uint32_t columns = min(p.n - column, kColumns);
  Out* to = static_cast<Out*>(p.c) + row0 * p.ldc + column + kPerWord * lane;
#pragma unroll 1
  for (std::uint32_t row = 0; row < rows; ++row, to += p.ldc) {
    const auto* const from = reinterpret_cast<const Out*>(box + staged_word(row, lane));
#pragma unroll
    for (std::uint32_t i = 0; i < kPerWord; ++i)
      if (kPerWord * lane + i < columns) to[i] = from[i];
  }
}

// C.

/// Two sums as 16-bit elements of C, the left one in the low half.
__device__ __forceinline__ std::uint32_t packed(float left, float right,
                                                const __nv_bfloat16* /*type*/) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(left, right);
  return *reinterpret_cast<const std::uint32_t*>(&pair);
}
__device__ __forceinline__ std::uint32_t packed(float left, float right, const __half* /*type*/) {
  const __half2 pair = __floats2half2_rn(left, right);
  return *reinterpret_cast<const std::uint32_t*>(&pair);
}

/// Puts 128 bytes of each of a warp's 16 rows into a staging box: sums `first` on.
template <class Out, std::uint32_t kCount>
__device__ __forceinline__ void fill_box(std::byte* box, const float (&d)[kCount],
                                         std::uint32_t first, std::uint32_t lane) {
  if constexpr (sizeof(Out) == 2) {
    const auto two = [&](std::uint32_t i) {
      return packed(d[i], d[i + 1], static_cast<const Out*>(nullptr));
    };
#pragma unroll
    for (std::uint32_t chunk = 0; chunk < 8; chunk += 2) {
      const std::uint32_t i = first + 4 * chunk;
      stmatrix_x4(shared_address(box) + staged_matrix_row(lane, chunk), two(i), two(i + 2),
                  two(i + 4), two(i + 6));
    }
  } else {
#pragma unroll
    for (std::uint32_t group = 0; group < 4; ++group) {
      const std::uint32_t i = first + 4 * group;
      std::byte* const to = box + staged_pair(lane, group);
      *reinterpret_cast<float2*>(to) = {d[i], d[i + 1]};
      *reinterpret_cast<float2*>(to + kEightRowsOn) = {d[i + 2], d[i + 3]};
    }
  }
}

/// Staging boxes for a row of `count` sums.
template <class Out>
constexpr std::uint32_t boxes_for(std::uint32_t count) {
  return (2 * count + kBoxColumns<Out> - 1) / kBoxColumns<Out>;
}

/// Carries 128 bytes of each of one warp's 16 rows to C: box `step` of them.
template <std::uint32_t step, class Out, std::uint32_t kBoxes, std::uint32_t kCount>
__device__ __forceinline__ void send_box(std::byte (&boxes)[kBoxes][kStagingBytes],
                                         const float (&d)[kCount], const CUtensorMap& c_map,
                                         const EngineProblem& p, std::uint32_t row0,
                                         std::uint32_t column0, bool by_tma) {
  namespace ptx = cuda::ptx;
  constexpr std::uint32_t kColumns = kBoxColumns<Out>;
  const std::uint32_t lane = threadIdx.x % 32;
  std::byte* const box = boxes[step % kBoxes];
  // The store kBoxes ago has read this box; without it that store would carry off the new sums.
  // Groups belong to the thread that made them: only lane 0 has any to wait for. Where the last
  // call did not leave off at the last box, all of its stores are waited for.
  constexpr std::uint32_t kStillReading =
      step == 0 && boxes_for<Out>(kCount) % kBoxes != 0 ? 0 : kBoxes - 1;
  if (lane == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<kStillReading>{});
  __syncwarp();  // and the other lanes wait for lane 0, as all do for those that still carry
  // The last box begins early where the columns do not fill it: what it shares with the one
  // before is stored twice, the same.
  constexpr std::uint32_t kFrom =
      step * kColumns <= 2 * kCount - kColumns ? step * kColumns : 2 * kCount - kColumns;
  fill_box<Out>(box, d, kFrom / 2, lane);
  // TMA reads through the async proxy, which sees the writes of each lane only behind its fence.
  ptx::fence_proxy_async(ptx::space_shared);
  __syncwarp();  // without it lane 0 could send the box before the others have filled it
  const std::uint32_t column = column0 + kFrom;
  const bool inside = row0 < p.m && column < p.n;  // else the box is not sent at all
  if (inside && !by_tma) {
    if (row0 + kStagingRows <= p.m && column + kColumns <= p.n)
      carry_whole_box<Out>(box, p, row0, column, lane);
    else
      carry_clipped_box<Out>(box, p, row0, column, lane);
  }
  if (lane == 0) {
    const std::int32_t to[2] = {static_cast<std::int32_t>(column), static_cast<std::int32_t>(row0)};
    if (inside && by_tma)  // TMA clips at the edges of C
      ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &c_map, to, box);
    ptx::cp_async_bulk_commit_group();  // an empty group, too, so that the wait above can count
  }
}

/// One warpgroup's sums, of the rows of C from `row` and the columns from `column`, to C.
template <class Out, bool kBlend, std::uint32_t kBoxes, std::uint32_t kHigh, std::uint32_t kCount>
__device__ __forceinline__ void store_tile(std::byte (&boxes)[kBoxes][kStagingBytes],
                                           float (&d)[kHigh][kCount], const CUtensorMap& c_map,
                                           const EngineProblem& p, std::uint32_t row,
                                           std::uint32_t column) {
  static_assert(kHigh <= 2 && 2 * kCount >= kBoxColumns<Out>);
  const std::uint32_t warp_row = threadIdx.x % 128 / 32 * kStagingRows;
  // TMA writes whole 16 bytes: where rows of C do not end on them, the last column of tiles would
  // write behind its rows, and goes by plain stores. So does all of C where rows do not start on
  // them.
  const bool whole_chunks = p.n * sizeof(Out) % 16 == 0;
  const bool by_tma = p.c_by_tma && (whole_chunks || column + 2 * kCount <= p.n);
  const auto store = [&](auto which) {
    constexpr std::uint32_t kThis = decltype(which)::value;
    const std::uint32_t row0 = row + 64 * kThis;
    if constexpr (kBlend) blend<Out>(d[kThis], p, row0, column);
    [&]<std::uint32_t... step>(std::integer_sequence<std::uint32_t, step...>) {
      (send_box<step, Out>(boxes, d[kThis], c_map, p, row0 + warp_row, column, by_tma), ...);
    }
    (std::make_integer_sequence<std::uint32_t, boxes_for<Out>(kCount)>{});
  };
  store(std::integral_constant<std::uint32_t, 0>{});
  if constexpr (kHigh > 1) store(std::integral_constant<std::uint32_t, 1>{});
}

}  // namespace tidemark
