// How a cluster gets its first tile where that depends on its GPC.
#pragma once

#include <cooperative_groups.h>

#include <cstdint>
#include <cuda/ptx>

#include "kernels/cuda/gemm/engine/engine.hpp"
#include "kernels/cuda/gemm/engine/pack/pack_rows.cuh"
#include "kernels/cuda/gemm/engine/ring.cuh"
#include "kernels/cuda/gemm/ladder/rung.hpp"

namespace tidemark::kernels {

/// Behind the last one: whoever begins with it has nothing to do.
__device__ __forceinline__ std::uint32_t nobodys_tile(const EngineProblem& p) {
  return p.m_tiles * p.n_tiles;
}

/// The next tile of this SM's GPC, or of the next GPC that has one left: a launch that shares the
/// device has not as many clusters in each GPC as it would alone. There are as many tiles as
/// clusters, and no two take the same one, wherever they run. nobodys_tile() where none is left, as
/// of words that were not zero or that another launch has, too.
__device__ __forceinline__ std::uint32_t take_first_tile(const EngineProblem& p) {
  const GpcTiles& of = p.gpc_tiles;
  const std::uint32_t sm = cuda::ptx::get_sreg_smid();
  std::uint32_t gpc = sm < kMostSms ? of.gpc_of_sm[sm] : 0;
  for (std::uint32_t i = 0; i < of.gpcs; ++i) {
    const std::uint32_t begin = of.begin[gpc];
    const std::uint32_t count = of.begin[gpc + 1] - begin;
    const std::uint32_t at = WordOfGpu(p.shares[1 + gpc]).fetch_add(1, cuda::memory_order_relaxed);
    if (at < count) return of.tiles[begin + at];
    gpc = gpc + 1 == of.gpcs ? 0 : gpc + 1;
  }
  return nobodys_tile(p);
}

/// What the first block of the cluster took, in all of them; a barrier of the cluster must lie
/// between. From lane 0: a tile that could differ between lanes would cost the compiler its proof
/// that the descriptors of wgmma are uniform (ci/check_machine_code).
template <TileShape kShape>
__device__ __forceinline__ std::uint32_t first_tile_of_cluster(EngineRing<kShape>& ring) {
  const std::uint32_t* tile = &ring.first_tile;
  if constexpr (blocks_of(kShape) > 1)
    tile = cooperative_groups::this_cluster().map_shared_rank(&ring.first_tile, 0);
  return __shfl_sync(0xffffffffU, *tile, 0);
}

/// The last of `clusters` to have taken a tile leaves the words as it found them. Acquire and
/// release, or what others took could come behind the zeros.
__device__ __forceinline__ void put_tiles_back(const EngineProblem& p, std::uint32_t clusters) {
  if (WordOfGpu(p.shares[0]).fetch_add(1, cuda::memory_order_acq_rel) + 1 != clusters) return;
  for (std::uint32_t i = 0; i < 1 + p.gpc_tiles.gpcs; ++i)
    WordOfGpu(p.shares[i]).store(0, cuda::memory_order_relaxed);
}

}  // namespace tidemark::kernels
