// What the roles of an engine kernel share: the ring of stages in shared memory, where a role is in
// it, which tile a cluster works on, and how a slice of an operand is loaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/ptx>

#include "kernels/cuda/gemm/engine/engine.hpp"
#include "kernels/cuda/gemm/engine/tile_shape.hpp"
#include "kernels/cuda/gemm/ladder/staging.hpp"
#include "kernels/cuda/gemm/raster.hpp"
#include "kernels/cuda/ptx/cache_hint.cuh"

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

/// What the cluster works on, and which part of it is this block's.
struct EnginePlace {
  ClusterPlace in_cluster;
  std::uint32_t first = 0;  // tile of the cluster
  std::uint32_t step = 0;   // to its next one
};

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

/// First rows of what this block loads of A and B for a tile of the cluster.
struct SliceRows {
  std::uint32_t a = 0, b = 0;
};
template <TileShape kShape>
__device__ __forceinline__ SliceRows slice_rows(const EngineProblem& p, const ClusterPlace& in,
                                                std::uint32_t tile) {
  const TileAt at_c = tile_of(p, tile);
  return {.a = (at_c.m * kShape.cluster_m + in.m) * kShape.tile_m + in.n * slice_m(kShape),
          .b = (at_c.n * kShape.cluster_n + in.n) * kShape.tile_n + in.m * slice_n(kShape)};
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

/// `kRows` indices of M or N from `mn`, 128 bytes of k from `k`.
template <bool kMn, std::uint32_t kRows, bool kShared>
__device__ __forceinline__ void load_slice(std::byte* to, const CUtensorMap& map, std::uint32_t mn,
                                           std::uint32_t k, std::uint64_t* full,
                                           std::uint16_t sharers, std::uint64_t policy) {
  const auto mn_at = static_cast<std::int32_t>(mn);
  const auto k_at = static_cast<std::int32_t>(k);
  if constexpr (!kMn) {
    load_box<kShared>(to, map, k_at, mn_at, full, sharers, policy);
  } else {
    static_assert(kRows % 64 == 0, "boxes of an MN-major operand are 64 wide");
#pragma unroll
    for (std::uint32_t i = 0; i < kRows; i += 64)
      load_box<kShared>(to + i * kEngineRowBytes, map, mn_at + static_cast<std::int32_t>(i), k_at,
                        full, sharers, policy);
  }
}

}  // namespace tidemark::kernels
