// Rung 4: roles. A producer thread keeps a ring of four stages filled by TMA, two warpgroups
// multiply what has arrived, and mbarriers pass the stages to and fro: copies and products overlap
// within one block, and nobody waits for all. The tile is 128 x 128, one a block.
#include <cuda_bf16.h>

#include <cstddef>
#include <cstdint>
#include <cuda/ptx>

#include "kernels/cuda/gemm/ladder/parts.cuh"
#include "kernels/cuda/gemm/ladder/rung.hpp"
#include "kernels/cuda/ptx/wgmma.cuh"
#include "kernels/cuda/ptx/wgmma_forms.cuh"

namespace tidemark::kernels {
namespace {

namespace ptx = cuda::ptx;

constexpr std::uint32_t kTileM = 128;
constexpr std::uint32_t kTileN = 128;
constexpr std::uint32_t kTileK = 64;     // 128 bytes of bf16: one swizzle span
constexpr std::uint32_t kBoxRows = 128;  // of both maps
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
static_assert(sizeof(Stage) == 32768);
static_assert(sizeof(Stage) % 1024 == 0, "the swizzle repeats every 1024 bytes of address");

struct Ring {
  Stage stage[kStages];
  std::uint64_t full[kStages];   // completes when the bytes of a stage have landed
  std::uint64_t empty[kStages];  // completes when all consumer warps are done with a stage
  std::uint32_t abandoned;       // set when a wait of this block has ended by its bound
};
constexpr std::uint32_t kSharedBytes = sizeof(Ring) + 1024;  // room to align the ring
static_assert(kSharedBytes <= 232448, "dynamic shared memory of an sm_90 block");

/// Where a role is in the ring. Both roles count the same way, so they meet at the same stage with
/// the same parity without ever talking about it.
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

/// The producer thread: fills the ring for the tile of this block.
__device__ __forceinline__ void produce(Ring& ring, const CUtensorMap& a_map,
                                        const CUtensorMap& b_map, const RungProblem& p,
                                        const Patience& patience) {
  RingAt at;
  const auto row_a = static_cast<std::int32_t>(blockIdx.x % p.m_tiles * kTileM);
  const auto row_b = static_cast<std::int32_t>(blockIdx.x / p.m_tiles * kTileN);
  for (std::uint32_t block = 0; block < p.k_blocks; ++block) {
    // A fresh barrier is in phase 0, and the phase before counts as complete: the inverted parity
    // lets the first pass through and afterwards waits for the consumers' release. Without this
    // wait TMA would overwrite what wgmma still reads.
    if (!wait_patiently(ring.empty[at.stage], at.parity ^ 1, patience, true) || patience.lost())
      return;
    Stage& stage = ring.stage[at.stage];
    std::uint64_t* full = &ring.full[at.stage];
    // The one arrival that full[s] counts, and the bytes of both boxes, those outside the matrices
    // included. Without the announcement the phase would complete before the data.
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full,
                                   static_cast<std::uint32_t>(sizeof(Stage)));
    const auto k = static_cast<std::int32_t>(block * kTileK);
    const std::int32_t at_a[2] = {k, row_a};
    const std::int32_t at_b[2] = {k, row_b};
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, stage.a, &a_map, at_a, full);
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, stage.b, &b_map, at_b, full);
    at.advance();
  }
}

/// A consumer warpgroup: multiplies what the ring brings and stores its half of the tile. It runs
/// on after a wait that failed, over stale bytes: wgmma needs all four warps to keep step, and the
/// host discards C.
template <class Out>
__device__ __forceinline__ void consume(Ring& ring, const RungProblem& p, std::uint32_t half,
                                        const Patience& patience) {
  const std::uint32_t a_offset = half * kConsumerRows * kTileK * sizeof(__nv_bfloat16);
  const std::uint64_t first_a = k_major_swizzle128(shared_address(ring.stage) + a_offset);
  const std::uint64_t first_b = k_major_swizzle128(shared_address(ring.stage) +
                                                   static_cast<std::uint32_t>(offsetof(Stage, b)));
  RingAt at;
  bool in_time = true;
  const auto release = [&](std::uint32_t stage) {
    // One arrival a warp: each has waited for its own wgmma. Without it the stage is never
    // refilled. None for a stage that never arrived: it would be one too many.
    if (in_time && threadIdx.x % 32 == 0)
      ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &ring.empty[stage]);
    __syncwarp();  // without it lane 0 could come late to the next .aligned instruction
  };

  std::uint32_t d[64];
  for (std::uint32_t block = 0; block < p.k_blocks; ++block) {
    // Without this wait wgmma would read a stage that has not arrived.
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
    wgmma_wait<0>();  // without it the stage would go back while wgmma still reads it
    hold_accumulators(d);
    release(at.stage);
    at.advance();
  }
  store_accumulators<Out>(d, p, blockIdx.x % p.m_tiles * kTileM + half * kConsumerRows,
                          blockIdx.x / p.m_tiles * kTileN);
}

template <class Out>
__global__ void __launch_bounds__(kThreads, 1)
    ring_of_stages(const __grid_constant__ CUtensorMap a_map,
                   const __grid_constant__ CUtensorMap b_map,
                   const __grid_constant__ CUtensorMap /*c_map*/, const RungProblem p) {
  extern __shared__ std::byte shared_bytes[];
  Ring& ring = shared_at_1024<Ring>(shared_bytes);
  const Patience patience{&ring.abandoned, p.timed_out};
  if (threadIdx.x == 0) {
    for (std::uint32_t s = 0; s < kStages; ++s) {
      ptx::mbarrier_init(&ring.full[s], 1);  // the producer's announcement
      const std::uint32_t releases = kConsumerWarps;
      ptx::mbarrier_init(&ring.empty[s], releases);
    }
    ring.abandoned = 0;
    publish_barriers();
  }
  // Without it consumers may wait on barriers that do not exist yet. And where a block has timed
  // out this one would only time out once more: one thread asks, so that all decide alike.
  if (__syncthreads_or(threadIdx.x == 0 && *patience.timed_out != 0 ? 1 : 0) != 0) return;

  // From lane 0, so that the compiler sees one value a warp.
  const std::uint32_t warpgroup = __shfl_sync(0xffffffffU, threadIdx.x / kWarpgroup, 0);
  if (warpgroup == 0) {
    if (threadIdx.x == 0) produce(ring, a_map, b_map, p, patience);
  } else {
    consume<Out>(ring, p, warpgroup - 1, patience);
  }
  // The consumers wait for every stage that is filled, so no copy is in flight when a block ends.
  leave(patience);
}

}  // namespace

RungKernel ring_rung(GemmOutput output) {
  return {.kernel = output == GemmOutput::f32
                        ? reinterpret_cast<const void*>(&ring_of_stages<float>)
                        : reinterpret_cast<const void*>(&ring_of_stages<__nv_bfloat16>),
          .tile_m = kTileM,
          .tile_n = kTileN,
          .threads = kThreads,
          .shared_bytes = kSharedBytes,
          .a_box_rows = kBoxRows,
          .b_box_rows = kBoxRows};
}

}  // namespace tidemark::kernels
