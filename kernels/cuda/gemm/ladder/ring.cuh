// What rungs 4 to 8 share: the ring of stages in shared memory, the producer's and the consumers'
// side of it, and the split of a CTA into these roles. A rung's own file has the order of its tiles
// and what becomes of the accumulators.
#pragma once

#include <cooperative_groups.h>
#include <cuda_bf16.h>

#include <cstddef>
#include <cstdint>
#include <cuda/ptx>

#include "kernels/cuda/gemm/ladder/parts.cuh"
#include "kernels/cuda/gemm/ladder/rung.hpp"
#include "kernels/cuda/ptx/wgmma.cuh"

namespace tidemark {

inline constexpr std::uint32_t kRingTileM = 128;
inline constexpr std::uint32_t kRingTileK = 64;     // 128 bytes of bf16: one swizzle span
inline constexpr std::uint32_t kRingBoxRows = 128;  // of both maps; 256 columns are 2 boxes of B
inline constexpr std::uint32_t kRingStages = 4;
inline constexpr std::uint32_t kRingWarpgroup = 128;
inline constexpr std::uint32_t kRingThreads = 3 * kRingWarpgroup;
inline constexpr std::uint32_t kRingConsumerWarps = 8;
inline constexpr std::uint32_t kRingConsumerRows = 64;  // of C, per consumer warpgroup

/// One stage of the ring, as TMA writes it: rows of 128 bytes, 16-byte chunks swizzled.
template <std::uint32_t tile_n>
struct RungStage {
  __nv_bfloat16 a[kRingTileM * kRingTileK];
  __nv_bfloat16 b[tile_n * kRingTileK];
};

/// What TMA writes of a ring. A rung whose C leaves by TMA adds its staging boxes.
template <std::uint32_t tile_n>
struct RungBuffers {
  static constexpr std::uint32_t kTileN = tile_n;
  using Stage = RungStage<tile_n>;
  static_assert(sizeof(Stage) == (kRingTileM + tile_n) * 128, "expect_tx takes this size");
  static_assert(sizeof(Stage) % 1024 == 0, "the swizzle repeats every 1024 bytes of address");

  Stage stage[kRingStages];
};

/// A CTA's dynamic shared memory. At the same address in both CTAs of a pair: a multicast lands,
/// and completes, at one offset for all.
template <class Buffers, std::uint32_t cluster = 1>
struct RungRing : Buffers {
  static constexpr std::uint32_t kCluster = cluster;
  static_assert(cluster == 1 || (cluster == 2 && Buffers::kTileN == 2 * kRingBoxRows),
                "each CTA of a pair loads one box of B");

  std::uint64_t full[kRingStages];   // completes when the bytes of a stage have landed in this CTA
  std::uint64_t empty[kRingStages];  // completes when all consumers of the cluster are done with it
  std::uint32_t abandoned;           // set when a wait of this CTA has ended by its bound
};

/// Where a role is in the ring. All roles of all CTAs of a cluster count the same way over all
/// tiles, so they meet at the same stage with the same parity without ever talking about it.
struct RungRingAt {
  std::uint32_t stage = 0;
  std::uint32_t parity = 0;

  __device__ __forceinline__ void advance() {
    if (++stage == kRingStages) {
      stage = 0;
      parity ^= 1;  // the barriers of the ring have completed one more phase
    }
  }
};

/// The producer thread's side of the ring.
template <class Ring>
struct RungProducer {
  Ring& ring;
  const CUtensorMap& a_map;
  const CUtensorMap& b_map;
  const RungProblem& p;
  const WaitBound& bound;
  std::uint32_t rank;  // of this CTA in its cluster
  RungRingAt at;

  /// Loads all k of one tile of this CTA from these rows of A and B on. False after a wait that
  /// failed: the producer has to end.
  __device__ __forceinline__ bool load_tile(std::uint32_t first_a, std::uint32_t first_b) {
    namespace ptx = cuda::ptx;
    // Each CTA of a pair loads the half of B that its rank names, for both.
    const std::uint32_t own_half = rank * kRingBoxRows;
    const auto row_a = static_cast<std::int32_t>(first_a);
    const auto row_b = static_cast<std::int32_t>(first_b + own_half);
    for (std::uint32_t k_block = 0; k_block < p.k_blocks; ++k_block) {
      // A fresh barrier is in phase 0, and the phase before counts as complete: the inverted parity
      // lets the first pass through and afterwards waits for the release by all consumers of the
      // cluster. Without this wait TMA would overwrite what wgmma still reads, here or in the other
      // CTA.
      if (!wait_within_bound(ring.empty[at.stage], at.parity ^ 1, bound, true) || bound.lost())
        return false;
      auto& stage = ring.stage[at.stage];
      std::uint64_t* full = &ring.full[at.stage];
      // The one arrival that full[s] counts, and the bytes of all boxes that land in this CTA:
      // those outside the matrices and the other CTA's half of B included. Without the expect_tx
      // the phase would complete before the data. The other half may come first: the phase stays
      // open for this arrival.
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full,
                                     static_cast<std::uint32_t>(sizeof(stage)));
      const auto k = static_cast<std::int32_t>(k_block * kRingTileK);
      load_box(stage.a, a_map, k, row_a, full);
      if constexpr (Ring::kCluster > 1) {
        const std::int32_t at_b[2] = {k, row_b};
        const std::uint16_t both = 0b11;  // CTAs of the cluster
        // Credits full[s] of both CTAs, each with the bytes that landed there.
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global,
                                  stage.b + own_half * kRingTileK, &b_map, at_b, full, both);
      } else {
#pragma unroll
        for (std::uint32_t row = 0; row < Ring::kTileN; row += kRingBoxRows)
          load_box(stage.b + row * kRingTileK, b_map, k, row_b + static_cast<std::int32_t>(row),
                   full);
      }
      at.advance();
    }
    return true;
  }

  __device__ static __forceinline__ void load_box(__nv_bfloat16* to, const CUtensorMap& map,
                                                  std::int32_t k, std::int32_t row,
                                                  std::uint64_t* full) {
    namespace ptx = cuda::ptx;
    const std::int32_t at_box[2] = {k, row};
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, to, &map, at_box, full);
  }
};

/// A consumer warpgroup's side of the ring. It runs on after a wait that failed, over stale bytes:
/// wgmma needs all four warps to keep step, and the host discards C.
template <class Ring>
struct RungConsumer {
  Ring& ring;
  const RungProblem& p;
  const WaitBound& bound;
  std::uint32_t rank;  // of this CTA in its cluster
  std::uint32_t half;  // of the rows of a tile: 0 or 1
  std::uint32_t lane;
  std::uint64_t a0, b0;  // descriptors of stage 0
  std::uint64_t* empty;  // barriers of the CTA to which this lane releases stages
  RungRingAt at;
  bool in_time = true;

  __device__ __forceinline__ RungConsumer(Ring& ring, const RungProblem& p, const WaitBound& bound,
                                          std::uint32_t rank, std::uint32_t half)
      : ring(ring), p(p), bound(bound), rank(rank), half(half), lane(threadIdx.x % 32) {
    const std::uint32_t a_offset = first_row() * kRingTileK * sizeof(__nv_bfloat16);
    a0 = k_major_swizzle128(shared_address(ring.stage) + a_offset);
    b0 = k_major_swizzle128(shared_address(ring.stage) +
                            static_cast<std::uint32_t>(offsetof(typename Ring::Stage, b)));
    empty = ring.empty;
    if constexpr (Ring::kCluster > 1)
      empty = cooperative_groups::this_cluster().map_shared_rank(ring.empty, lane % Ring::kCluster);
  }

  /// First row of this warpgroup in a tile.
  __device__ __forceinline__ std::uint32_t first_row() const { return half * kRingConsumerRows; }

  /// The warp has read `stage`: one arrival a warp and CTA, lane i's at CTA i of the cluster. Each
  /// warp has waited for its own wgmma. Without it the stage is never refilled. None for a stage
  /// that never arrived: it would be one too many.
  __device__ __forceinline__ void release(std::uint32_t stage) {
    namespace ptx = cuda::ptx;
    if constexpr (Ring::kCluster == 1) {
      if (in_time && threadIdx.x % 32 == 0)
        ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cta, ptx::space_shared, empty + stage);
    } else if (in_time && lane < Ring::kCluster) {
      // Relaxed: what is passed on is that wgmma has read, which its wait has seen to, and no
      // thread's writes; a release at cluster scope would wait for all of this thread's stores to C
      // at every step.
      ptx::mbarrier_arrive(ptx::sem_relaxed, ptx::scope_cluster, ptx::space_cluster, empty + stage);
    }
    __syncwarp();  // without it these lanes could come late to the next .aligned instruction
  }

  /// Waits for the stage at `at` and starts its wgmma as one group.
  template <class Accumulator, std::uint32_t count>
  __device__ __forceinline__ void start_stage(Accumulator (&d)[count], std::uint32_t k_block) {
    using Form = WgmmaForm<MmaType::bf16, false, false>;
    // Without this wait wgmma would read a stage that has not arrived. Half of B may be copied by
    // another CTA, and still the scope is this CTA's: the copy's own complete_tx orders its bytes
    // before wgmma, and no thread reads them. An acquire at cluster scope would throw away the L1
    // cache at every step.
    if (in_time) in_time = wait_within_bound(ring.full[at.stage], at.parity, bound, false);
    // Lanes may leave the wait's loop apart; the .aligned instructions below need them together.
    __syncwarp();
    const std::uint64_t a = a0 + at.stage * (sizeof(typename Ring::Stage) >> 4);
    const std::uint64_t b = b0 + at.stage * (sizeof(typename Ring::Stage) >> 4);
    wgmma_fence();  // without it the accumulators' registers may still be in use elsewhere
#pragma unroll
    for (std::uint32_t k16 = 0; k16 < kRingTileK / 16; ++k16)
      // The first product of a tile overwrites whatever the registers held.
      wgmma<Form>(d, a + 2 * k16, b + 2 * k16, k_block + k16 != 0 ? 1U : 0U);
    wgmma_commit();  // without it a wait would count no group
  }

  /// Multiplies all k of a tile. One group stays in flight while the stage of the one before goes
  /// back.
  __device__ __forceinline__ void multiply_tile(float (&d)[128]) {
    std::uint32_t held = 0;  // the stage that the wgmma in flight read
    for (std::uint32_t k_block = 0; k_block < p.k_blocks; ++k_block) {
      start_stage(d, k_block);
      wgmma_wait<1>();  // the group before this one is done: its stage can go back
      if (k_block != 0) release(held);
      held = at.stage;
      at.advance();
    }
    wgmma_wait<0>();  // without it the accumulators are stored unfinished
    hold_sums(d);
    release(held);
  }
};

/// Every thread of all CTAs of a cluster. Has no bound of its own: all that comes before it has.
__device__ __forceinline__ void synchronize_rung_cluster() {
  cuda::ptx::barrier_cluster_arrive(cuda::ptx::sem_release);
  cuda::ptx::barrier_cluster_wait(cuda::ptx::sem_acquire);
}

/// The body of a kernel: initializes the barriers, runs `produce` (of a RungProducer) in one thread
/// and `consume` (of a RungConsumer) in two warpgroups, and ends when nothing can land here any
/// more.
template <class Ring, class Produce, class Consume>
__device__ __forceinline__ void run_roles(const CUtensorMap& a_map, const CUtensorMap& b_map,
                                          const RungProblem& p, const Produce& produce,
                                          const Consume& consume) {
  namespace ptx = cuda::ptx;
  constexpr bool kPair = Ring::kCluster > 1;
  extern __shared__ std::byte shared_bytes[];
  Ring& ring = shared_at_1024<Ring>(shared_bytes);
  const WaitBound bound{&ring.abandoned, p.timed_out};
  const std::uint32_t rank = kPair ? ptx::get_sreg_cluster_ctarank() : 0;
  if (threadIdx.x == 0) {
    for (std::uint32_t s = 0; s < kRingStages; ++s) {
      ptx::mbarrier_init(&ring.full[s], 1);  // the expect_tx of this CTA's producer
      const std::uint32_t releases = kRingConsumerWarps * Ring::kCluster;
      ptx::mbarrier_init(&ring.empty[s], releases);
    }
    // A launch before this one timed out: a pair starts as if it had. It does not return below,
    // since its two CTAs could read different words.
    ring.abandoned = kPair ? *bound.timed_out : 0;
    publish_barriers();
  }
  if constexpr (kPair) {
    // Without it the other CTA's copies and arrivals may find barriers that do not exist yet.
    synchronize_rung_cluster();
  } else {
    // Without it consumers may wait on barriers that do not exist yet. And where a CTA has timed
    // out this one would only time out once more: one thread asks, so that all decide alike.
    if (__syncthreads_or(threadIdx.x == 0 && *bound.timed_out != 0 ? 1 : 0) != 0) return;
  }

  // From lane 0, so that the compiler sees one value a warp and setmaxnreg's branch is uniform.
  const std::uint32_t warpgroup = __shfl_sync(0xffffffffU, threadIdx.x / kRingWarpgroup, 0);
  // 128 x (40 + 2 x 232) registers: what the launch gave 384 threads at 168 each. Without the
  // exchange the 128 accumulators, descriptors and pointers of a consumer would spill.
  constexpr bool kMovesRegisters = Ring::kTileN == 256;
  if (warpgroup == 0) {
    if constexpr (kMovesRegisters) setmaxnreg_dec<40>();
    if (threadIdx.x == 0) {
      RungProducer<Ring> producer{ring, a_map, b_map, p, bound, rank, {}};
      produce(producer);
    }
    // Lanes 1 to 31 wait for lane 0 here rather than inside the cluster's barrier.
    if constexpr (kPair) __syncwarp();
  } else {
    if constexpr (kMovesRegisters) setmaxnreg_inc<232>();
    RungConsumer<Ring> consumer(ring, p, bound, rank, warpgroup - 1);
    consume(consumer);
  }
  // The consumers have waited for every stage that is filled, so no copy to here is in flight.
  leave(bound);
  // But the other CTA of a pair still arrives on these barriers, and after a time-out its copies
  // may land: neither may find a CTA that has ended.
  if constexpr (kPair) synchronize_rung_cluster();
}

/// What the host has to know of a rung; the rung adds what is its own. Of its two kernels one
/// writes C as fp32, the other as bf16.
template <class Ring, class Kernel>
RungKernel rung_kernel(GemmOutput output, Kernel* f32, Kernel* bf16) {
  constexpr std::uint32_t kSharedBytes = sizeof(Ring) + 1024;  // room to align the ring
  static_assert(kSharedBytes <= 232448, "dynamic shared memory of an sm_90 CTA");
  return {.kernel = reinterpret_cast<const void*>(output == GemmOutput::f32 ? f32 : bf16),
          .tile_m = kRingTileM,
          .tile_n = Ring::kTileN,
          .threads = kRingThreads,
          .shared_bytes = kSharedBytes,
          .a_box_rows = kRingBoxRows,
          .b_box_rows = kRingBoxRows,
          .cluster = Ring::kCluster};
}

}  // namespace tidemark
