// What the first tiles read, brought to L2 while the launch before still runs.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "kernels/cuda/gemm/engine/engine.hpp"
#include "kernels/cuda/gemm/engine/ring.cuh"
#include "kernels/cuda/gemm/engine/tile_shape.hpp"

namespace tidemark::kernels {

/// Blocks of k that are asked for: about what a ring holds. The ring itself is further ahead than
/// memory needs, and 16 are slower than none (NOTES.md): what is needed first comes behind the
/// rest.
inline constexpr std::uint32_t kPrefetchedBlocks = 4;
/// Clusters among which those of one operand's rows are shared out.
inline constexpr std::uint32_t kPrefetchSharers = 4;

/// The box at `inner`, `outer` of `map` to L2. Nobody is told when it is there, nothing is ordered
/// behind it. PTX ISA 9.0, cp.async.bulk.prefetch.tensor; cuda::ptx lacks it.
__device__ __forceinline__ void prefetch_box(const CUtensorMap& map, std::int32_t inner,
                                             std::int32_t outer) {
  asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];"
               :
               : "l"(&map), "r"(inner), "r"(outer)
               : "memory");
}

/// As load_slice() would load it.
template <bool kMn, std::uint32_t kRows>
__device__ __forceinline__ void prefetch_slice(const CUtensorMap& map, std::uint32_t mn,
                                               std::uint32_t k) {
  const auto mn_at = static_cast<std::int32_t>(mn);
  const auto k_at = static_cast<std::int32_t>(k);
  if constexpr (!kMn) {
    prefetch_box(map, k_at, mn_at);
  } else {
#pragma unroll
    for (std::uint32_t i = 0; i < kRows; i += 64)
      prefetch_box(map, mn_at + static_cast<std::int32_t>(i), k_at);
  }
}

/// One thread: this block's share of the first blocks of k of its first tile. Who begins with the
/// same rows of A has another column of tiles, and the other way round: one in kPrefetchSharers of
/// them asks for a box. The launch before may still write there: L2 is where its writes go, too,
/// and no byte is taken before its end has been waited for.
template <TileShape kShape, class Operands>
__device__ __forceinline__ void prefetch_first_tile(const CUtensorMap& a_map,
                                                    const CUtensorMap& b_map,
                                                    const EngineProblem& p,
                                                    const EnginePlace& place) {
  const TileWalk<kShape> walk(p, place);
  if (!walk.more(p)) return;
  const TileAt at_c = tile_of(p, walk.tile);
  const SliceRows rows = slice_rows<kShape, Operands::kBMn>(p, place.in_cluster, walk.tile);
  const std::uint32_t blocks = min(walk.blocks(p), kPrefetchedBlocks);
  const std::uint32_t first_k =
      (place.in_cluster.part * p.k_blocks + walk.first_block()) * Operands::kTileK;
  const std::uint32_t a_sharers = min(p.n_tiles, kPrefetchSharers);
  const std::uint32_t b_sharers = min(p.m_tiles, kPrefetchSharers);
  for (std::uint32_t block = at_c.n % a_sharers; block < blocks; block += a_sharers)
    prefetch_slice<Operands::kAMn, slice_m(kShape)>(a_map, rows.a,
                                                    first_k + block * Operands::kTileK);
  for (std::uint32_t block = at_c.m % b_sharers; block < blocks; block += b_sharers)
    prefetch_slice<Operands::kBMn, slice_b<kShape, Operands::kBMn>>(
        b_map, rows.b, first_k + block * Operands::kTileK);
}

}  // namespace tidemark::kernels
