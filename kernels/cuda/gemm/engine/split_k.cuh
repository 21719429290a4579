// Tiles whose K is split over two blocks of a cluster.
#pragma once

#include <cooperative_groups.h>

#include <cstddef>
#include <cstdint>
#include <cuda/ptx>
#include <type_traits>

#include "kernels/cuda/gemm/engine/engine.hpp"
#include "kernels/cuda/gemm/engine/epilogue.cuh"
#include "kernels/cuda/gemm/engine/tile_shape.hpp"

namespace tidemark::kernels {

/// As put_away() where two blocks of the cluster hold sums over a part of K each: either adds up
/// half of the columns, the parts always in the order of K, so that the result is the same every
/// time, and puts that half away. `exchange` is the ring, which the tile has left: a block
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
