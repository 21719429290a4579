// The end of a tile: alpha and beta are applied, and the sums leave for C through staging boxes
// that TMA carries off, or a warp where TMA cannot (plain_stores.cuh).
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstddef>
#include <cstdint>
#include <cuda/ptx>
#include <type_traits>
#include <utility>

#include "kernels/cuda/gemm/engine/blend.cuh"
#include "kernels/cuda/gemm/engine/engine.hpp"
#include "kernels/cuda/gemm/engine/plain_stores.cuh"
#include "kernels/cuda/gemm/engine/tile_shape.hpp"
#include "kernels/cuda/gemm/ladder/staging.hpp"
#include "kernels/cuda/ptx/cache_hint.cuh"
#include "kernels/cuda/ptx/stmatrix.cuh"

namespace tidemark::kernels {

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

}  // namespace tidemark::kernels
