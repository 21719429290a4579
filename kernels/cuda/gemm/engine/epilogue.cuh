// The end of a tile: sums of several parts of K are added up, alpha and beta are applied, and the
// sums leave for C through staging boxes that TMA carries off, or a warp where TMA cannot.
#pragma once

#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstddef>
#include <cstdint>
#include <cuda/ptx>
#include <type_traits>
#include <utility>

#include "kernels/cuda/gemm/engine/engine.hpp"
#include "kernels/cuda/gemm/engine/tile_shape.hpp"
#include "kernels/cuda/gemm/ladder/staging.hpp"
#include "kernels/cuda/ptx/cache_hint.cuh"
#include "kernels/cuda/ptx/stmatrix.cuh"

namespace tidemark::kernels {

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

/// sums = alpha sums + beta C, for the sums first ... first + count - 1 of 64 rows from `row0`,
/// whose sum 0 stands in column `column0`. C is not read where beta is 0: it may hold anything, NaN
/// included.
template <std::uint32_t first, std::uint32_t count, class Out, std::uint32_t kCount>
__device__ __forceinline__ void blend(float (&d)[kCount], const EngineProblem& p,
                                      std::uint32_t row0, std::uint32_t column0) {
#pragma unroll
  for (std::uint32_t i = first; i < first + count; ++i) d[i] *= p.alpha;
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
  for (std::uint32_t i = first; i < first + count; i += 4) {
    const std::uint32_t at = column + 2 * i;
    const bool both = at + 1 < p.n;
    if (at < p.n && row < p.m) add(i, upper + 2 * i, both);
    if (at < p.n && row + 8 < p.m) add(i + 2, lower + 2 * i, both);
  }
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

/// Columns of C in a staging box, and boxes for a row of `count` sums.
template <class Out>
inline constexpr std::uint32_t kBoxColumns = kStagingRowBytes / sizeof(Out);
template <class Out>
constexpr std::uint32_t boxes_for(std::uint32_t count) {
  return (2 * count + kBoxColumns<Out> - 1) / kBoxColumns<Out>;
}

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
  // are uniform (ci/check_wgmma).
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

/// Carries box `step` of send() to C.
template <std::uint32_t step, std::uint32_t first, std::uint32_t count, class Out,
          std::uint32_t kBoxes, std::uint32_t kCount>
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
      step == 0 && boxes_for<Out>(count) % kBoxes != 0 ? 0 : kBoxes - 1;
  if (lane == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<kStillReading>{});
  __syncwarp();  // and the other lanes wait for lane 0, as all do for those that still carry
  // The last box begins early where the columns do not fill it: what it shares with the one
  // before is stored twice, the same.
  constexpr std::uint32_t kFrom =
      step * kColumns <= 2 * count - kColumns ? step * kColumns : 2 * count - kColumns;
  fill_box<Out>(box, d, first + kFrom / 2, lane);
  // TMA reads through the async proxy, which sees the writes of each lane only behind its fence.
  ptx::fence_proxy_async(ptx::space_shared);
  __syncwarp();  // without it lane 0 could send the box before the others have filled it
  const std::uint32_t column = column0 + 2 * first + kFrom;
  const bool inside = row0 < p.m && column < p.n;  // else the box is not sent at all
  if (inside && !by_tma) {
    if (row0 + kStagingRows <= p.m && column + kColumns <= p.n)
      carry_whole_box<Out>(box, p, row0, column, lane);
    else
      carry_clipped_box<Out>(box, p, row0, column, lane);
  }
  if (lane == 0) {
    const std::int32_t to[2] = {static_cast<std::int32_t>(column), static_cast<std::int32_t>(row0)};
    if (inside && by_tma) {  // TMA clips at the edges of C
      if (p.streams_c)
        store_tile_with_policy(box, &c_map, to, cache_policy(CacheHint::evict_first));
      else
        ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &c_map, to, box);
    }
    ptx::cp_async_bulk_commit_group();  // an empty group, too, so that the wait above can count
  }
}

/// Carries sums first ... first + count - 1 of one warp's 16 rows to C, 128 bytes of each row at
/// once, by TMA or by plain stores. Sum 0 stands in column `column0`.
template <std::uint32_t first, std::uint32_t count, class Out, std::uint32_t kBoxes,
          std::uint32_t kCount>
__device__ __forceinline__ void send(std::byte (&boxes)[kBoxes][kStagingBytes],
                                     const float (&d)[kCount], const CUtensorMap& c_map,
                                     const EngineProblem& p, std::uint32_t row0,
                                     std::uint32_t column0, bool by_tma) {
  static_assert(2 * count >= kBoxColumns<Out>);
  [&]<std::uint32_t... step>(std::integer_sequence<std::uint32_t, step...>) {
    (send_box<step, first, count, Out>(boxes, d, c_map, p, row0, column0, by_tma), ...);
  }
  (std::make_integer_sequence<std::uint32_t, boxes_for<Out>(count)>{});
}

/// One warpgroup's sums first ... first + count - 1 of every 64 rows from `row`, whose sum 0 stands
/// in column `column`, to C.
template <std::uint32_t first, std::uint32_t count, class Out, bool kBlend, std::uint32_t kBoxes,
          std::uint32_t kHigh, std::uint32_t kCount>
__device__ __forceinline__ void put_away(std::byte (&boxes)[kBoxes][kStagingBytes],
                                         float (&d)[kHigh][kCount], const CUtensorMap& c_map,
                                         const EngineProblem& p, std::uint32_t row,
                                         std::uint32_t column) {
  static_assert(kHigh <= 2);
  const std::uint32_t warp_row = threadIdx.x % 128 / 32 * kStagingRows;
  // TMA writes whole 16 bytes: where rows of C do not end on them, the last column of tiles would
  // write behind its rows, and goes by plain stores. So does all of C where rows do not start on
  // them.
  const bool whole_chunks = p.n * sizeof(Out) % 16 == 0;
  const bool by_tma = p.c_by_tma && (whole_chunks || column + 2 * (first + count) <= p.n);
  const auto put = [&](auto which) {
    constexpr std::uint32_t kThis = decltype(which)::value;
    const std::uint32_t row0 = row + 64 * kThis;
    if constexpr (kBlend) blend<first, count, Out>(d[kThis], p, row0, column);
    send<first, count, Out>(boxes, d[kThis], c_map, p, row0 + warp_row, column, by_tma);
  };
  put(std::integral_constant<std::uint32_t, 0>{});
  if constexpr (kHigh > 1) put(std::integral_constant<std::uint32_t, 1>{});
}

/// The same where two blocks of the cluster hold sums over a part of K each: either adds up half of
/// the columns, the parts always in the order of K, so that the result is the same every time, and
/// puts that half away. `exchange` is the ring, which the tile has left: a block
/// of such a cluster has one tile only. All threads of the cluster meet twice in here.
template <TileShape kShape, class Out, bool kBlend, std::uint32_t kBoxes, std::uint32_t kHigh,
          std::uint32_t kCount>
__device__ __forceinline__ void put_away_parts(float* exchange,
                                               std::byte (&boxes)[kBoxes][kStagingBytes],
                                               float (&d)[kHigh][kCount], const CUtensorMap& c_map,
                                               const EngineProblem& p, const ClusterPlace& in,
                                               std::uint32_t row, std::uint32_t column) {
  namespace ptx = cuda::ptx;
  static_assert(kShape.split == 2);
  constexpr std::uint32_t kShare = kCount / 2;
  constexpr std::uint32_t kThreads = 128 * kConsumerWarpgroups;
  const std::uint32_t thread = threadIdx.x - 128;
  // Where a sum of the other part lies with its new owner.
  const auto slot = [&](float* memory, std::uint32_t high, std::uint32_t i) {
    return memory + (high * kShare + i) * kThreads + thread;
  };
  // Without it the sums would land in stages that the owner's wgmma still reads.
  ptx::barrier_cluster_arrive(ptx::sem_release);
  ptx::barrier_cluster_wait(ptx::sem_acquire);
#pragma unroll
  for (std::uint32_t owner = 0; owner < 2; ++owner) {
    if (owner == in.part) continue;
    float* const theirs = cooperative_groups::this_cluster().map_shared_rank(
        exchange, cluster_rank(kShape, {owner, in.m, in.n}));
#pragma unroll
    for (std::uint32_t high = 0; high < kHigh; ++high)
#pragma unroll
      for (std::uint32_t i = 0; i < kShare; ++i)
        *slot(theirs, high, i) = d[high][owner * kShare + i];
  }
  // Without it the sums would be read before they have come.
  ptx::barrier_cluster_arrive(ptx::sem_release);
  ptx::barrier_cluster_wait(ptx::sem_acquire);
  const auto add_up = [&](auto owner) {
    constexpr std::uint32_t kOwner = decltype(owner)::value;
    if (kOwner != in.part) return;
#pragma unroll
    for (std::uint32_t high = 0; high < kHigh; ++high)
#pragma unroll
      for (std::uint32_t i = 0; i < kShare; ++i) {
        float& own = d[high][kOwner * kShare + i];
        const float other = *slot(exchange, high, i);
        own = kOwner == 0 ? own + other : other + own;
      }
    put_away<kOwner * kShare, kShare, Out, kBlend>(boxes, d, c_map, p, row, column);
  };
  add_up(std::integral_constant<std::uint32_t, 0>{});
  add_up(std::integral_constant<std::uint32_t, 1>{});
}

}  // namespace tidemark::kernels
