// Whether the rows of a tile are packed already, where all blocks pack them beside the product. A
// look costs two trips to L2 and two fences, 1400 clocks an operand, and what the ring is ahead
// hides none of them (NOTES.md). So one of the warps that pack looks on the producer's behalf, for
// its next tile, and leaves word in shared memory. The producer looks itself only where there is
// no word.
#pragma once

#include <cstdint>
#include <cuda/atomic>
#include <cuda/ptx>

#include "kernels/cuda/gemm/engine/engine.hpp"
#include "kernels/cuda/gemm/engine/pack/pack_rows.cuh"
#include "kernels/cuda/gemm/engine/ring.cuh"
#include "kernels/cuda/gemm/engine/tile_shape.hpp"
#include "kernels/cuda/gemm/ladder/parts.cuh"

namespace tidemark::kernels {

using WordOfBlock = cuda::atomic_ref<std::uint32_t, cuda::thread_scope_block>;

inline constexpr std::uint32_t kNoTile = 0xffffffff;
inline constexpr std::uint32_t kEveryTile = 0xfffffffe;

/// The producer thread is about to load `tile`: false as of wait_patiently(). `looks` is whether
/// rows may still be missing; set to false once all are packed.
template <TileShape kShape>
__device__ __forceinline__ bool begin_tile(EngineRing<kShape>& ring, const EngineProblem& p,
                                           const SliceRows& rows, std::uint32_t tile, bool& looks,
                                           const Patience& patience) {
  if (!looks) return true;
  // Acquire: what the other warp has seen packed, this thread's copies are to find so, too.
  const std::uint32_t packed = WordOfBlock(ring.packed_tile).load(cuda::memory_order_acquire);
  looks = packed != kEveryTile;
  WordOfBlock(ring.loaded_tile).store(tile, cuda::memory_order_relaxed);
  if (!looks || packed == tile) return true;
  return wait_for_rows<slice_n(kShape)>(p.ahead[1], rows.b, patience) &&
         wait_for_rows<slice_m(kShape)>(p.ahead[0], rows.a, patience);
}

/// All lanes of a warp leave word that rows are packed, behind a look that found them so.
__device__ __forceinline__ void tell_packed(std::uint32_t& packed_tile, std::uint32_t tile) {
  take_packed_rows();
  __syncwarp();  // without it lane 0 could tell of what other lanes have yet to see
  // Release: without it the producer could act on the word before what the look has seen.
  if (threadIdx.x % 32 == 0) WordOfBlock(packed_tile).store(tile, cuda::memory_order_release);
}

/// All lanes of a warp look for the tile after the producer's, unless word of it was left already.
template <TileShape kShape>
__device__ __forceinline__ void look_ahead(EngineRing<kShape>& ring, const EngineProblem& p,
                                           const EnginePlace& place) {
  const std::uint32_t loaded = WordOfBlock(ring.loaded_tile).load(cuda::memory_order_relaxed);
  const std::uint32_t next = loaded + place.step;
  const std::uint32_t told = WordOfBlock(ring.packed_tile).load(cuda::memory_order_relaxed);
  const bool asked = loaded != kNoTile && next < p.m_tiles * p.n_tiles && next != told;
  // What lane 0 has read, so that all lanes do the same.
  const std::uint32_t tile = __shfl_sync(0xffffffffU, asked ? next : kNoTile, 0);
  if (tile == kNoTile) return;
  const SliceRows rows = slice_rows<kShape>(p, place.in_cluster, tile);
  if (are_packed(p.ahead[1], rows.b, rows.b + slice_n(kShape)) &&
      are_packed(p.ahead[0], rows.a, rows.a + slice_m(kShape)))
    tell_packed(ring.packed_tile, tile);
}

/// A warp packs what it can get of both operands. The block's `first` also looks on the producer's
/// behalf while it packs, and leaves word when every row of all is packed.
template <TileShape kShape>
__device__ __forceinline__ void pack_and_look(EngineRing<kShape>& ring, const EngineProblem& p,
                                              const EnginePlace& place, bool first,
                                              const Patience& patience) {
  const auto look = [&] {
    if (first) look_ahead(ring, p, place);
  };
  // The first group of tiles needs all of B, the second more of A.
  pack_ahead(p.ahead[1], look);
  pack_ahead(p.ahead[0], look);
  if (!first) return;
  const std::uint64_t start = cuda::ptx::get_sreg_globaltimer();
  const auto all = [](const RowsAhead& ahead) {
    return are_packed(ahead, ahead.first, static_cast<std::uint32_t>(ahead.rows.rows));
  };
  while (!all(p.ahead[1]) || !all(p.ahead[0])) {
    // In silence: a producer that wants a row that is missing waits for it itself, and reports.
    // Together: a lane that stayed would look without those that left.
    const bool ends = patience.lost() || cuda::ptx::get_sreg_globaltimer() - start > kKernelWaitNs;
    if (__any_sync(0xffffffffU, ends)) return;
    __nanosleep(500);
  }
  tell_packed(ring.packed_tile, kEveryTile);
}

}  // namespace tidemark::kernels
