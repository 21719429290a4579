// Rung 7: pairs of blocks. Two neighbours along M need the same columns of B: each loads half of
// them and multicasts it into both, so the pair reads 64 KiB of L2 a step where two blocks alone
// would read 96. A stage is then free only when the consumers of both blocks are done with it.
#include <cooperative_groups.h>
#include <cuda_bf16.h>

#include <cstddef>
#include <cstdint>
#include <cuda/ptx>

#include "kernels/cuda/gemm/ladder/parts.cuh"
#include "kernels/cuda/gemm/ladder/rung.hpp"
#include "kernels/cuda/ptx/wgmma.cuh"
#include "kernels/cuda/ptx/wgmma_wide.cuh"

namespace tidemark::kernels {
namespace {

namespace ptx = cuda::ptx;

constexpr std::uint32_t kCluster = 2;
constexpr std::uint32_t kTileM = 128;
constexpr std::uint32_t kTileN = 256;
constexpr std::uint32_t kTileK = 64;     // 128 bytes of bf16: one swizzle span
constexpr std::uint32_t kBoxRows = 128;  // of both maps; each block of a pair loads one box of B
constexpr std::uint32_t kStages = 4;
constexpr std::uint32_t kWarpgroup = 128;
constexpr std::uint32_t kThreads = 3 * kWarpgroup;
constexpr std::uint32_t kConsumerWarps = 8;
constexpr std::uint32_t kConsumerRows = 64;  // of C, per consumer warpgroup

using Form = WgmmaForm<MmaType::bf16, false, false>;

/// One stage of the ring, as TMA writes it: rows of 128 bytes, 16-byte chunks swizzled.
struct Stage {
  __nv_bfloat16 a[kTileM * kTileK];
  __nv_bfloat16 b[kTileN * kTileK];
};
static_assert(sizeof(Stage) == 49152);
static_assert(sizeof(Stage) % 1024 == 0, "the swizzle repeats every 1024 bytes of address");

/// At the same address in both blocks: a multicast lands, and completes, at one offset for all.
struct Ring {
  Stage stage[kStages];
  std::uint64_t full[kStages];   // completes when the bytes of a stage have landed in this block
  std::uint64_t empty[kStages];  // completes when the consumers of both blocks are done with it
  std::uint32_t abandoned;       // set when a wait of this block has ended by its bound
};
constexpr std::uint32_t kSharedBytes = sizeof(Ring) + 1024;  // room to align the ring
static_assert(kSharedBytes <= 232448, "dynamic shared memory of an sm_90 block");

/// Where a role is in the ring. All roles of both blocks count the same way over all tiles, so they
/// meet at the same stage with the same parity without ever talking about it.
struct RingAt {
  std::uint32_t stage = 0;
  std::uint32_t parity = 0;

  __device__ __forceinline__ void advance() {
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1;  // the barriers of the ring have flipped once more
    }
  }
};

/// What a pair works on, and which of it this block is.
struct Place {
  std::uint32_t rank;   // in the cluster
  std::uint32_t first;  // tile of the pair
  std::uint32_t step;   // to its next one
};

/// Every thread of both blocks. Has no bound of its own: all that comes before it has.
__device__ __forceinline__ void synchronise_cluster() {
  ptx::barrier_cluster_arrive(ptx::sem_release);
  ptx::barrier_cluster_wait(ptx::sem_acquire);
}

/// The producer thread: fills the ring of this block, and half of B's part in the other's.
__device__ __forceinline__ void produce(Ring& ring, const CUtensorMap& a_map,
                                        const CUtensorMap& b_map, const RungProblem& p,
                                        const Place& place, const Patience& patience) {
  RingAt at;
  const std::uint32_t tiles = p.m_tiles * p.n_tiles;
  const std::uint32_t own_half = place.rank * kBoxRows;
  const std::uint16_t everybody = 0b11;  // of the cluster
  for (std::uint32_t tile = place.first; tile < tiles; tile += place.step) {
    // Where the pair's second block lies wholly below the matrix its A is all zeros, and its half
    // of B is needed all the same.
    const auto row_a =
        static_cast<std::int32_t>((tile % p.m_tiles * kCluster + place.rank) * kTileM);
    const auto row_b = static_cast<std::int32_t>(tile / p.m_tiles * kTileN + own_half);
    for (std::uint32_t block = 0; block < p.k_blocks; ++block) {
      // A fresh barrier is in phase 0, and the phase before counts as complete: the inverted parity
      // lets the first pass through and afterwards waits for the release by both blocks. Without
      // this wait TMA would overwrite what wgmma still reads, here or in the other block.
      if (!wait_patiently(ring.empty[at.stage], at.parity ^ 1, patience, true) || patience.lost())
        return;
      Stage& stage = ring.stage[at.stage];
      std::uint64_t* full = &ring.full[at.stage];
      // The one arrival that full[s] counts, and the bytes that land in this block, the other's
      // half of B included. That half may come first: the phase stays open for this arrival.
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full,
                                     static_cast<std::uint32_t>(sizeof(Stage)));
      const auto k = static_cast<std::int32_t>(block * kTileK);
      const std::int32_t at_a[2] = {k, row_a};
      const std::int32_t at_b[2] = {k, row_b};
      ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, stage.a, &a_map, at_a, full);
      // Credits full[s] of both blocks, each with the bytes that landed there.
      ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, stage.b + own_half * kTileK,
                                &b_map, at_b, full, everybody);
      at.advance();
    }
  }
}

/// A consumer warpgroup: multiplies what the ring brings and stores its half of every tile. It runs
/// on after a wait that failed, over stale bytes: wgmma needs all four warps to keep step, and the
/// host discards C.
template <class Out>
__device__ __forceinline__ void consume(Ring& ring, const RungProblem& p, const Place& place,
                                        std::uint32_t half, const Patience& patience) {
  const std::uint32_t a_offset = half * kConsumerRows * kTileK * sizeof(__nv_bfloat16);
  const std::uint64_t first_a = k_major_swizzle128(shared_address(ring.stage) + a_offset);
  const std::uint64_t first_b = k_major_swizzle128(shared_address(ring.stage) +
                                                   static_cast<std::uint32_t>(offsetof(Stage, b)));
  const std::uint32_t lane = threadIdx.x % 32;
  // Lane 0 tells the first block of the pair, lane 1 the second; one of them is this one.
  std::uint64_t* const told =
      cooperative_groups::this_cluster().map_shared_rank(ring.empty, lane % kCluster);
  RingAt at;
  bool in_time = true;
  const auto release = [&](std::uint32_t stage) {
    // One arrival a warp and block: each warp has waited for its own wgmma. Without it the stage is
    // never refilled. None for a stage that never arrived: it would be one too many. Relaxed: what
    // is passed on is that wgmma has read, which its wait has seen to, and no thread's writes; a
    // release at cluster scope would wait for all of this thread's stores to C at every step.
    if (in_time && lane < kCluster)
      ptx::mbarrier_arrive(ptx::sem_relaxed, ptx::scope_cluster, ptx::space_cluster, told + stage);
    __syncwarp();  // without it these lanes could come late to the next .aligned instruction
  };

  const std::uint32_t tiles = p.m_tiles * p.n_tiles;
  for (std::uint32_t tile = place.first; tile < tiles; tile += place.step) {
    float d[128];
    std::uint32_t held = 0;  // the stage that the wgmma in flight read
    for (std::uint32_t block = 0; block < p.k_blocks; ++block) {
      // Without this wait wgmma would read a stage that has not arrived. Half of B was copied by
      // the other block, and still the scope is this block's: the copy's own credit orders its
      // bytes before wgmma, and no thread reads them. An acquire at cluster scope would throw away
      // the L1 cache at every step.
      if (in_time) in_time = wait_patiently(ring.full[at.stage], at.parity, patience, false);
      // Lanes may leave the wait's loop apart; the .aligned instructions below need them together.
      __syncwarp();
      const std::uint64_t a = first_a + at.stage * (sizeof(Stage) >> 4);
      const std::uint64_t b = first_b + at.stage * (sizeof(Stage) >> 4);
      wgmma_fence();  // without it the accumulators' registers may still be in use elsewhere
#pragma unroll
      for (std::uint32_t k16 = 0; k16 < kTileK / 16; ++k16)
        // The first product of a tile overwrites whatever the registers held.
        wgmma<Form>(d, a + 2 * k16, b + 2 * k16, block + k16 != 0 ? 1U : 0U);
      wgmma_commit();   // without it the wait below would count no group
      wgmma_wait<1>();  // the group before this one is done: its stage can go back
      if (block != 0) release(held);
      held = at.stage;
      at.advance();
    }
    wgmma_wait<0>();  // without it the accumulators are stored unfinished
    hold_sums(d);
    release(held);
    const std::uint32_t row =
        (tile % p.m_tiles * kCluster + place.rank) * kTileM + half * kConsumerRows;
    store_accumulators<Out>(d, p, row, tile / p.m_tiles * kTileN);
  }
}

template <class Out>
__global__ void __launch_bounds__(kThreads, 1)
    multicast(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
              const __grid_constant__ CUtensorMap /*c_map*/, const RungProblem p) {
  extern __shared__ std::byte shared_bytes[];
  Ring& ring = shared_at_1024<Ring>(shared_bytes);
  const Patience patience{&ring.abandoned, p.timed_out};
  const Place place{.rank = ptx::get_sreg_cluster_ctarank(),
                    .first = blockIdx.x / kCluster,
                    .step = gridDim.x / kCluster};
  if (threadIdx.x == 0) {
    for (std::uint32_t s = 0; s < kStages; ++s) {
      ptx::mbarrier_init(&ring.full[s], 1);  // the announcement of this block's producer
      const std::uint32_t releases = kConsumerWarps * kCluster;
      ptx::mbarrier_init(&ring.empty[s], releases);
    }
    // A launch before this one timed out: this one starts as if it had. It does not return here,
    // since the two blocks of a pair could read different words.
    ring.abandoned = *patience.timed_out;
    publish_barriers();
  }
  // Without it the other block's copies and arrivals may find barriers that do not exist yet.
  synchronise_cluster();

  // From lane 0, so that the compiler sees one value a warp and setmaxnreg's branch is uniform.
  const std::uint32_t warpgroup = __shfl_sync(0xffffffffU, threadIdx.x / kWarpgroup, 0);
  if (warpgroup == 0) {
    // 128 x (40 + 2 x 232) registers: what the launch gave 384 threads at 168 each. Without the
    // exchange the 128 accumulators, descriptors and pointers of a consumer would spill.
    setmaxnreg_dec<40>();
    if (threadIdx.x == 0) produce(ring, a_map, b_map, p, place, patience);
    __syncwarp();  // lanes 1 to 31 wait for lane 0 here rather than inside the cluster's barrier
  } else {
    setmaxnreg_inc<232>();
    consume<Out>(ring, p, place, warpgroup - 1, patience);
  }
  leave(patience);
  // The consumers have waited for all that lands here. But the other block still arrives on these
  // barriers, and after a time-out its copies may land: neither may find a block that has ended.
  synchronise_cluster();
}

}  // namespace

RungKernel multicast_rung(GemmOutput output) {
  return {.kernel = output == GemmOutput::f32
                        ? reinterpret_cast<const void*>(&multicast<float>)
                        : reinterpret_cast<const void*>(&multicast<__nv_bfloat16>),
          .tile_m = kTileM,
          .tile_n = kTileN,
          .threads = kThreads,
          .shared_bytes = kSharedBytes,
          .a_box_rows = kBoxRows,
          .b_box_rows = kBoxRows,
          .cluster = kCluster,
          .persistent = true};
}

}  // namespace tidemark::kernels
