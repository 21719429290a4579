// What the roles of an engine kernel share: the ring of stages in shared memory, a role's position
// in it, how TMA fills a stage and how wgmma reads one.
#pragma once

#include <cooperative_groups.h>

#include <cstddef>
#include <cstdint>
#include <cuda/ptx>

#include "kernels/cuda/gemm/c_tiles.hpp"
#include "kernels/cuda/gemm/engine/engine.hpp"
#include "kernels/cuda/gemm/engine/stream_k.hpp"
#include "kernels/cuda/gemm/ladder/parts.cuh"
#include "kernels/cuda/ptx/wgmma.cuh"

namespace tidemark {

/// Element type of A and B, and whether M or N rather than K is their contiguous dimension.
template <MmaType type, bool a_mn, bool b_mn>
struct EngineOperands {
  using Form = WgmmaForm<type, a_mn, b_mn>;
  static constexpr bool kAMn = a_mn;
  static constexpr bool kBMn = b_mn;
  static constexpr bool kFp8 = element_bytes(type) == 1;
  static constexpr std::uint32_t kTileK = kFp8 ? kFp8TileK : kEngineTileK;  // of a stage
};

/// Descriptor of an operand in a stage; its address is a multiple of 1024. K-major as
/// k_major_swizzle128(); MN-major: 64 k of 128 bytes from one run of 64 indices to the next (the
/// leading offset), 8 k of 128 bytes to the next 8 k (the stride). PTX ISA 9.0, 9.7.15.5.1.2.
template <bool kMn>
__device__ __forceinline__ std::uint64_t operand_descriptor(std::uint32_t address) {
  if constexpr (!kMn) return k_major_swizzle128(address);
  constexpr std::uint64_t kNextRun = kEngineTileK * kEngineRowBytes;
  constexpr std::uint64_t kNextEight = 8 * kEngineRowBytes;
  return ((address & 0x3ffffU) >> 4) | ((kNextRun >> 4) << 16) | ((kNextEight >> 4) << 32) |
         (std::uint64_t{1} << 62);
}
/// What takes a descriptor one wgmma further along k: 32 bytes of each row (16 k, 32 of fp8), or 16
/// rows.
template <bool kMn>
inline constexpr std::uint64_t kStepOfK = (kMn ? 16 * kEngineRowBytes : 32) >> 4;

/// One stage, as TMA writes it: rows of 128 bytes, 16-byte chunks swizzled. K-major operands have a
/// row of 64 k, 128 of fp8, for each index of M or N; MN-major ones a run of 64 rows, one a k, for
/// every 64 indices.
template <TileShape kShape>
struct EngineStage {
  std::byte a[kShape.tile_m * kEngineRowBytes];
  std::byte b[kShape.tile_n * kEngineRowBytes];
};

/// At the same address in all CTAs of a cluster: a multicast lands, and completes, at one offset.
template <TileShape kShape>
struct EngineRing {
  EngineStage<kShape> stage[kShape.stages];
  std::byte staging[kEngineConsumerWarps][kShape.boxes][kStagingBytes];
  std::uint64_t full[kShape.stages];   // completes when a stage's bytes have landed in this CTA
  std::uint64_t empty[kShape.stages];  // completes when all that load into it may do so again
  std::uint32_t abandoned;             // set when a wait of this CTA has ended by its bound
  std::uint32_t first_tile;            // of the cluster, where its GPC says
  std::uint32_t arrived_below;         // rows of this CTA's tiles below it: arriving_tiles.cuh
};

/// Where a role is in the ring. All roles of all CTAs count the same way over all tiles, those that
/// another warpgroup multiplies included.
template <TileShape kShape>
struct RingPosition {
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

/// Every thread of all CTAs of the cluster. Has no bound of its own: all that comes before it has.
template <TileShape kShape>
__device__ __forceinline__ void synchronize_ctas() {
  if constexpr (kShape.cluster_m == 1) {
    __syncthreads();
  } else {
    cuda::ptx::barrier_cluster_arrive(cuda::ptx::sem_release);
    cuda::ptx::barrier_cluster_wait(cuda::ptx::sem_acquire);
  }
}

/// Where tile `index` of the walk lies in C; a GEMM beside its exchange has an order of its own.
__device__ __forceinline__ TileAt tile_of(const EngineProblem& p, std::uint32_t index) {
  if (p.epoch == 0) return tile_at(index, p.m_tiles, p.n_tiles, p.group);
  const uint2 at = __ldg(reinterpret_cast<const uint2*>(p.arrivals.order + index));
  return {.m = at.x, .n = at.y};
}

template <TileShape kShape, class Operands>
inline constexpr std::uint32_t kSliceOfB = Operands::kBMn ? run_slice_n(kShape) : slice_n(kShape);

/// First rows of what this CTA loads of A and B for a tile of the cluster.
struct SliceRows {
  std::uint32_t a = 0, b = 0;
};
template <TileShape kShape, class Operands>
__device__ __forceinline__ SliceRows slice_rows(const EngineProblem& p, std::uint32_t rank,
                                                std::uint32_t tile) {
  const TileAt at_c = tile_of(p, tile);
  return {.a = (at_c.m * kShape.cluster_m + rank) * kShape.tile_m,
          .b = at_c.n * kShape.tile_n + rank * kSliceOfB<kShape, Operands>};
}

/// One box, to this CTA alone or to all of the cluster.
template <std::uint32_t kCtas>
__device__ __forceinline__ void load_box(std::byte* to, const CUtensorMap& map, std::int32_t inner,
                                         std::int32_t outer, std::uint64_t* full) {
  namespace ptx = cuda::ptx;
  const std::int32_t at[2] = {inner, outer};
  if constexpr (kCtas > 1) {
    // Credits full[s] of every CTA, each with the bytes that landed there.
    constexpr std::uint16_t kMask = (1U << kCtas) - 1;
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, to, &map, at, full, kMask);
  } else {
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, to, &map, at, full);
  }
}

/// `kRows` indices of M or N from `mn`, 128 bytes of k from `k`. Of an MN-major operand no more
/// than `left`, which is a multiple of 64.
template <bool kMn, std::uint32_t kRows, std::uint32_t kCtas>
__device__ __forceinline__ void load_slice(std::byte* to, const CUtensorMap& map, std::uint32_t mn,
                                           std::uint32_t k, std::uint32_t left,
                                           std::uint64_t* full) {
  const auto mn_at = static_cast<std::int32_t>(mn);
  const auto k_at = static_cast<std::int32_t>(k);
  if constexpr (!kMn) {
    load_box<kCtas>(to, map, k_at, mn_at, full);
  } else {
    static_assert(kRows % 64 == 0, "boxes of an MN-major operand are 64 wide");
#pragma unroll
    for (std::uint32_t i = 0; i < kRows; i += 64)
      if (i < left)
        load_box<kCtas>(to + i * kEngineRowBytes, map, mn_at + static_cast<std::int32_t>(i), k_at,
                        full);
  }
}

/// Starts all wgmma of one stage, or its first `steps` where K ends within it, as one group. In the
/// first `block` of k the first wgmma overwrites whatever the registers held.
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

/// A consumer warpgroup's side of the ring. It runs on after a wait that failed, over stale bytes:
/// wgmma needs all four warps to keep step, and the host discards C.
template <TileShape kShape, class Operands>
struct RingReader {
  using Stage = EngineStage<kShape>;
  EngineRing<kShape>& ring;
  const WaitBound& bound;
  std::uint32_t lane = threadIdx.x % 32;
  std::uint64_t a, b;    // descriptors of stage 0
  std::uint64_t* empty;  // barriers of the CTA that this lane arrives at
  RingPosition<kShape> at{};
  bool in_time = true;

  /// `row` is the warpgroup's first in the tile.
  __device__ __forceinline__ RingReader(EngineRing<kShape>& ring, const WaitBound& bound,
                                        std::uint32_t row)
      : ring(ring), bound(bound), empty(ring.empty) {
    const std::uint32_t stages_at = shared_address(ring.stage);
    a = operand_descriptor<Operands::kAMn>(stages_at + row * kEngineRowBytes);
    b = operand_descriptor<Operands::kBMn>(stages_at +
                                           static_cast<std::uint32_t>(offsetof(Stage, b)));
    if constexpr (kShape.cluster_m > 1)
      empty =
          cooperative_groups::this_cluster().map_shared_rank(ring.empty, lane % kShape.cluster_m);
  }

  /// Waits for the stage at `at`; then a_here() and b_here() are its descriptors.
  __device__ __forceinline__ void wait() {
    // Without this wait wgmma would read a stage that has not arrived. The scope is this CTA's also
    // for what others copied: the copy's own complete_tx orders its bytes before wgmma.
    if (in_time) in_time = wait_within_bound(ring.full[at.stage], at.parity, bound, false);
    // Lanes may leave the wait's loop apart; the .aligned instructions below need them together.
    __syncwarp();
  }
  __device__ __forceinline__ std::uint64_t a_here() const {
    return a + at.stage * (sizeof(Stage) >> 4);
  }
  __device__ __forceinline__ std::uint64_t b_here() const {
    return b + at.stage * (sizeof(Stage) >> 4);
  }

  /// A warp's wgmma have read `stage`: one arrival at each CTA of the cluster, which loads into
  /// this one. Without it the stage is never refilled. None for a stage that never arrived: it
  /// would be one too many. Relaxed: what is passed on is that wgmma has read, and no thread's
  /// writes.
  __device__ __forceinline__ void release(std::uint32_t stage) {
    namespace ptx = cuda::ptx;
    if (in_time && lane < kShape.cluster_m)
      ptx::mbarrier_arrive(ptx::sem_relaxed, ptx::scope_cluster, ptx::space_cluster, empty + stage);
    __syncwarp();  // without it these lanes could come late to the next .aligned instruction
  }
};

}  // namespace tidemark
