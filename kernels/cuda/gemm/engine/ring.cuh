// What the roles of an engine kernel share: the ring of stages in shared memory, where a role is in
// it, which tile a cluster works on, how TMA fills a stage and wgmma reads one.
#pragma once

#include <cooperative_groups.h>

#include <cstddef>
#include <cstdint>
#include <cuda/ptx>
#include <type_traits>

#include "kernels/cuda/gemm/engine/engine.hpp"
#include "kernels/cuda/gemm/engine/operands.cuh"
#include "kernels/cuda/gemm/engine/stream_walk.hpp"
#include "kernels/cuda/gemm/engine/tile_shape.hpp"
#include "kernels/cuda/gemm/ladder/staging.hpp"
#include "kernels/cuda/gemm/raster.hpp"
#include "kernels/cuda/ptx/cache_hint.cuh"
#include "kernels/cuda/ptx/wgmma.cuh"
#include "kernels/cuda/ptx/wgmma_wide.cuh"

namespace tidemark::kernels {

/// One stage, as TMA writes it: rows of 128 bytes, 16-byte chunks swizzled. K-major operands have a
/// row of 64 k, 128 of fp8, for each index of M or N; MN-major ones a run of 64 rows, one a k, for
/// every 64 indices.
template <TileShape kShape>
struct EngineStage {
  std::byte a[kShape.tile_m * kEngineRowBytes];
  std::byte b[kShape.tile_n * kEngineRowBytes];
};

/// At the same address in all blocks of a cluster: a multicast lands, and completes, at one offset.
template <TileShape kShape>
struct EngineRing {
  EngineStage<kShape> stage[kShape.stages];
  std::byte staging[kEngineConsumerWarps][kShape.boxes][kStagingBytes];
  std::uint64_t full[kShape.stages];   // completes when a stage's bytes have landed in this block
  std::uint64_t empty[kShape.stages];  // completes when all that load into it may do so again
  std::uint32_t abandoned;             // set when a wait of this block has ended by its bound
  std::uint32_t first_tile;            // of the cluster, where its GPC says
  std::uint32_t loaded_tile;           // that the producer is at, or kNoTile: packed_tiles.cuh
  std::uint32_t packed_tile;           // whose rows are there, or kNoTile, or kEveryTile
  std::uint32_t arrived_below;         // rows of this block's tiles below it: arriving_tiles.cuh
};

/// Where a role is in the ring. All roles of all blocks count the same way over all tiles, those
/// that another warpgroup multiplies included.
template <TileShape kShape>
struct EngineRingAt {
  std::uint32_t stage = 0;
  std::uint32_t parity = 0;

  __device__ __forceinline__ void advance() {
    if (++stage == kShape.stages) {
      stage = 0;
      parity ^= 1;
    }
  }
  /// As `blocks` times advance().
  __device__ __forceinline__ void skip(std::uint32_t blocks) {
    const std::uint32_t to = stage + blocks;
    parity ^= to / kShape.stages & 1;
    stage = to % kShape.stages;
  }
};

/// Which tiles a cluster works on, and which blocks of their K: all of whole tiles, from
/// EnginePlace::first in steps of the grid.
struct WholeTiles {
  std::uint32_t tile;

  constexpr WholeTiles(const EngineProblem& /*p*/, const EnginePlace& place) : tile(place.first) {}
  constexpr bool more(const EngineProblem& p) const { return tile < p.m_tiles * p.n_tiles; }
  constexpr void next(const EngineProblem& /*p*/, const EnginePlace& place) { tile += place.step; }
  constexpr bool is_first(const EnginePlace& place) const { return tile == place.first; }
  constexpr bool is_last(const EngineProblem& p, const EnginePlace& place) const {
    return tile + place.step >= p.m_tiles * p.n_tiles;
  }
  constexpr std::uint32_t first_block() const { return 0; }
  constexpr std::uint32_t blocks(const EngineProblem& p) const { return p.k_blocks; }
  constexpr bool reaches_end(const EngineProblem& /*p*/) const { return true; }
};

template <TileShape kShape>
using TileWalk = std::conditional_t<kShape.stream_k, StreamWalk, WholeTiles>;

/// Every thread of all blocks of the cluster. Has no bound of its own: all that comes before it
/// has.
template <TileShape kShape>
__device__ __forceinline__ void synchronise_blocks() {
  if constexpr (blocks_of(kShape) == 1) {
    __syncthreads();
  } else {
    cuda::ptx::barrier_cluster_arrive(cuda::ptx::sem_release);
    cuda::ptx::barrier_cluster_wait(cuda::ptx::sem_acquire);
  }
}

__device__ __forceinline__ TileAt raster_tile(const EngineProblem& p, std::uint32_t index) {
  if (!p.group_along_n) return tile_at(index, p.m_tiles, p.n_tiles, p.group);
  const TileAt turned = tile_at(index, p.n_tiles, p.m_tiles, p.group);
  return {.m = turned.n, .n = turned.m};
}

/// The same of a product that follows its arrivals.
__device__ __forceinline__ TileAt ordered_tile(const EngineProblem& p, std::uint32_t index) {
  const uint2 at = __ldg(reinterpret_cast<const uint2*>(p.arrivals.order + index));
  return {.m = at.x, .n = at.y};
}

__device__ __forceinline__ TileAt tile_of(const EngineProblem& p, std::uint32_t index) {
  return p.epoch != 0 ? ordered_tile(p, index) : raster_tile(p, index);
}

template <TileShape kShape, bool kBMn>
inline constexpr std::uint32_t slice_b = kBMn ? run_slice_n(kShape) : slice_n(kShape);

/// First rows of what this block loads of A and B for a tile of the cluster.
struct SliceRows {
  std::uint32_t a = 0, b = 0;
};
template <TileShape kShape, bool kBMn = false>
__device__ __forceinline__ SliceRows slice_rows(const EngineProblem& p, const ClusterPlace& in,
                                                std::uint32_t tile) {
  const TileAt at_c = tile_of(p, tile);
  return {.a = (at_c.m * kShape.cluster_m + in.m) * kShape.tile_m + in.n * slice_m(kShape),
          .b = (at_c.n * kShape.cluster_n + in.n) * kShape.tile_n + in.m * slice_b<kShape, kBMn>};
}

/// Stands for a load without a policy, which is another thing than evict_normal: of rows that start
/// in the middle of a line of L2 that reads 1.6 times the bytes from DRAM (NOTES.md).
inline constexpr std::uint64_t kNoPolicy = 0;

/// One box, to this block alone or to all whose bits are set.
template <bool kShared>
__device__ __forceinline__ void load_box(std::byte* to, const CUtensorMap& map, std::int32_t inner,
                                         std::int32_t outer, std::uint64_t* full,
                                         std::uint16_t sharers, std::uint64_t policy) {
  namespace ptx = cuda::ptx;
  const std::int32_t at[2] = {inner, outer};
  if constexpr (kShared) {
    // Credits full[s] of every block that gets it, each with the bytes that landed there.
    if (policy == kNoPolicy)
      ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, to, &map, at, full, sharers);
    else
      multicast_tile_with_policy(to, &map, at, full, sharers, policy);
  } else {
    if (policy == kNoPolicy)
      ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, to, &map, at, full);
    else
      load_tile_with_policy(to, &map, at, full, policy);
  }
}

/// `kRows` indices of M or N from `mn`, 128 bytes of k from `k`. Of an MN-major operand no more
/// than `left`, which is a multiple of 64.
template <bool kMn, std::uint32_t kRows, bool kShared>
__device__ __forceinline__ void load_slice(std::byte* to, const CUtensorMap& map, std::uint32_t mn,
                                           std::uint32_t k, std::uint32_t left, std::uint64_t* full,
                                           std::uint16_t sharers, std::uint64_t policy) {
  const auto mn_at = static_cast<std::int32_t>(mn);
  const auto k_at = static_cast<std::int32_t>(k);
  if constexpr (!kMn) {
    load_box<kShared>(to, map, k_at, mn_at, full, sharers, policy);
  } else {
    static_assert(kRows % 64 == 0, "boxes of an MN-major operand are 64 wide");
#pragma unroll
    for (std::uint32_t i = 0; i < kRows; i += 64)
      if (i < left)
        load_box<kShared>(to + i * kEngineRowBytes, map, mn_at + static_cast<std::int32_t>(i), k_at,
                          full, sharers, policy);
  }
}

/// Starts all wgmma of one stage, or its first `steps` where K ends within it, as one group. In the
/// first `block` of k the first product overwrites whatever the registers held.
template <class Operands, std::uint32_t steps = kStepsOfStage, std::uint32_t kHigh,
          std::uint32_t kCount>
__device__ __forceinline__ void multiply_stage(float (&d)[kHigh][kCount], std::uint64_t a,
                                               std::uint64_t b, std::uint32_t block) {
  wgmma_fence();  // without it the accumulators' registers may still be in use elsewhere
#pragma unroll
  for (std::uint32_t step = 0; step < steps; ++step)
#pragma unroll
    for (std::uint32_t high = 0; high < kHigh; ++high)
      wgmma<typename Operands::Form>(
          d[high], a + step * kStepOfK<Operands::kAMn> + high * (64 * kEngineRowBytes >> 4),
          b + step * kStepOfK<Operands::kBMn>, block + step != 0 ? 1U : 0U);
  wgmma_commit();  // without it a wait would count no group
}

/// The same of the stage in which K ends: its first `steps`, 1 to 3.
template <class Operands, std::uint32_t kHigh, std::uint32_t kCount>
__device__ __forceinline__ void multiply_last_stage(float (&d)[kHigh][kCount], std::uint64_t a,
                                                    std::uint64_t b, std::uint32_t block,
                                                    std::uint32_t steps) {
  // Not a loop: the compiler would wait for the registers of wgmma in each turn of it.
  if (steps == 1)
    multiply_stage<Operands, 1>(d, a, b, block);
  else if (steps == 2)
    multiply_stage<Operands, 2>(d, a, b, block);
  else
    multiply_stage<Operands, 3>(d, a, b, block);
}

/// Where the consumers of this block tell that a stage has been read: lane i has the barriers of
/// peer i. One of them is this block.
template <TileShape kShape>
__device__ __forceinline__ std::uint64_t* told_by(EngineRing<kShape>& ring, const ClusterPlace& in,
                                                  std::uint32_t lane) {
  if constexpr (peers_of(kShape) == 1) return ring.empty;
  return cooperative_groups::this_cluster().map_shared_rank(
      ring.empty, peer_rank(kShape, in, lane % peers_of(kShape)));
}

/// A warp tells that its wgmma have read a stage: one arrival for each block that loads into this
/// one. Without it the stage is never refilled. None for a stage that never arrived: it would be
/// one too many. Relaxed: what is passed on is that wgmma has read, and no thread's writes.
template <TileShape kShape>
__device__ __forceinline__ void release_stage(std::uint64_t* told, bool in_time,
                                              std::uint32_t lane) {
  namespace ptx = cuda::ptx;
  if (in_time && lane < peers_of(kShape))
    ptx::mbarrier_arrive(ptx::sem_relaxed, ptx::scope_cluster, ptx::space_cluster, told);
  __syncwarp();  // without it these lanes could come late to the next .aligned instruction
}

}  // namespace tidemark::kernels
