// How a cluster gets its first tile where that depends on its GPC.
#pragma once

#include <cooperative_groups.h>

#include <cstdint>
#include <cuda/ptx>

#include "kernels/cuda/gemm/engine/engine.hpp"
#include "kernels/cuda/gemm/engine/pack_rows.cuh"
#include "kernels/cuda/gemm/engine/ring.cuh"
#include "kernels/cuda/gemm/ladder/rung.hpp"

namespace tidemark {

/// The next tile of this SM's GPC, or of the next GPC that has one left: a launch that shares the
/// device has not as many clusters in each GPC as it would alone. There are as many tiles as
/// clusters, and no two take the same one, wherever they run. Where none is left, as of words that
/// were not zero, it says so as of a wait that was lost.
__device__ __forceinline__ std::uint32_t take_first_tile(const EngineProblem& p) {
  const GpcTiles& of = p.gpc_tiles;
  const std::uint32_t sm = cuda::ptx::get_sreg_smid();
  std::uint32_t gpc = sm < kMostSms ? of.gpc_of_sm[sm] : 0;
  for (std::uint32_t i = 0; i < of.gpcs; ++i) {
    const std::uint32_t begin = of.begin[gpc];
    const std::uint32_t count = of.begin[gpc + 1] - begin;
    const std::uint32_t at =
        WordOfGpu(p.timed_out[2 + gpc]).fetch_add(1, cuda::memory_order_relaxed);
    if (at < count) return of.tiles[begin + at];
    gpc = gpc + 1 == of.gpcs ? 0 : gpc + 1;
  }
  // The words were not zero, or another launch has them too: some tile is nobody's.
  p.timed_out[0] = timed_out_word({.producer = true, .block = blockIdx.x});
  return p.m_tiles * p.n_tiles;
}

/// To all blocks of the cluster, whose barrier must follow.
template <TileShape kShape>
__device__ __forceinline__ void tell_first_tile(EngineRing<kShape>& ring, std::uint32_t tile) {
  ring.first_tile = tile;
  for (std::uint32_t rank = 1; rank < blocks_of(kShape); ++rank)
    *cooperative_groups::this_cluster().map_shared_rank(&ring.first_tile, rank) = tile;
}

/// The last of `clusters` to end leaves the words as it found them. All have taken their tiles by
/// then: acquire and release, or what they count could come behind the zeros.
__device__ __forceinline__ void put_tiles_back(const EngineProblem& p, std::uint32_t clusters) {
  if (WordOfGpu(p.timed_out[1]).fetch_add(1, cuda::memory_order_acq_rel) + 1 != clusters) return;
  for (std::uint32_t i = 1; i < 2 + p.gpc_tiles.gpcs; ++i)
    WordOfGpu(p.timed_out[i]).store(0, cuda::memory_order_relaxed);
}

}  // namespace tidemark
