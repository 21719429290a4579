// Rung 5: a tile of 128 x 256. Twice the products for one and a half times the bytes, and the
// widest wgmma, which reads least shared memory a product. Its 128 accumulators a thread fit
// because the producer's warps give registers away (setmaxnreg). One product stays in flight while
// the stage of the one before goes back.
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

constexpr std::uint32_t kTileM = 128;
constexpr std::uint32_t kTileN = 256;
constexpr std::uint32_t kTileK = 64;     // 128 bytes of bf16: one swizzle span
constexpr std::uint32_t kBoxRows = 128;  // of both maps; a tile of B is two boxes
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
    // The one arrival that full[s] counts, and the bytes of all boxes, those outside the matrices
    // included. Without the announcement the phase would complete before the data.
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full,
                                   static_cast<std::uint32_t>(sizeof(Stage)));
    const auto k = static_cast<std::int32_t>(block * kTileK);
    const std::int32_t at_a[2] = {k, row_a};
    const std::int32_t at_b[2] = {k, row_b};
    const std::int32_t at_b2[2] = {k, row_b + static_cast<std::int32_t>(kBoxRows)};
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, stage.a, &a_map, at_a, full);
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, stage.b, &b_map, at_b, full);
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, stage.b + kBoxRows * kTileK,
                              &b_map, at_b2, full);
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

  float d[128];
  std::uint32_t held = 0;  // the stage that the wgmma in flight read
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
    wgmma_wait<1>();  // the group before this one is done: its stage can go back
    if (block != 0) release(held);
    held = at.stage;
    at.advance();
  }
  wgmma_wait<0>();  // without it the accumulators are stored unfinished
  hold_sums(d);
  release(held);
  store_accumulators<Out>(d, p, blockIdx.x % p.m_tiles * kTileM + half * kConsumerRows,
                          blockIdx.x / p.m_tiles * kTileN);
}

template <class Out>
__global__ void __launch_bounds__(kThreads, 1)
    wide_tile(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
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

  // From lane 0, so that the compiler sees one value a warp and setmaxnreg's branch is uniform.
  const std::uint32_t warpgroup = __shfl_sync(0xffffffffU, threadIdx.x / kWarpgroup, 0);
  if (warpgroup == 0) {
    // 128 x (40 + 2 x 232) registers: what the launch gave 384 threads at 168 each. Without the
    // exchange the 128 accumulators, descriptors and pointers of a consumer would spill.
    setmaxnreg_dec<40>();
    if (threadIdx.x == 0) produce(ring, a_map, b_map, p, patience);
  } else {
    setmaxnreg_inc<232>();
    consume<Out>(ring, p, warpgroup - 1, patience);
  }
  // The consumers wait for every stage that is filled, so no copy is in flight when a block ends.
  leave(patience);
}

}  // namespace

RungKernel wide_tile_rung(GemmOutput output) {
  return {.kernel = output == GemmOutput::f32
                        ? reinterpret_cast<const void*>(&wide_tile<float>)
                        : reinterpret_cast<const void*>(&wide_tile<__nv_bfloat16>),
          .tile_m = kTileM,
          .tile_n = kTileN,
          .threads = kThreads,
          .shared_bytes = kSharedBytes,
          .a_box_rows = kBoxRows,
          .b_box_rows = kBoxRows};
}

}  // namespace tidemark::kernels
