// Rung 3: TMA copies, tensor cores multiply. One thread asks for a whole 64 x 64 tile and the
// hardware does the rest; wgmma reads it from shared memory by itself. But one stage only: the
// block loads, waits, multiplies, waits, and what overlaps is the work of the other blocks on the
// SM.
#include <cuda_bf16.h>

#include <cstdint>
#include <cuda/ptx>

#include "kernels/cuda/gemm/ladder/parts.cuh"
#include "kernels/cuda/gemm/ladder/rung.hpp"
#include "kernels/cuda/ptx/wgmma.cuh"

namespace tidemark {
namespace {

namespace ptx = cuda::ptx;

constexpr std::uint32_t kTileM = 64;
constexpr std::uint32_t kTileN = 64;
constexpr std::uint32_t kTileK = 64;  // 128 bytes of bf16: one swizzle span
constexpr std::uint32_t kThreads = 128;

using Form = WgmmaForm<MmaType::bf16, false, false>;

struct Shared {
  __nv_bfloat16 a[kTileM * kTileK];  // as TMA writes it: rows of 128 bytes, 16-byte chunks swizzled
  __nv_bfloat16 b[kTileN * kTileK];
  std::uint64_t full;  // completes when the bytes of both tiles have landed
  std::uint32_t abandoned;
};
constexpr std::uint32_t kSharedBytes = sizeof(Shared) + 1024;  // room to align

template <class Out>
__global__ void __launch_bounds__(kThreads)
    tma_wgmma_64(const __grid_constant__ CUtensorMap a_map,
                 const __grid_constant__ CUtensorMap b_map,
                 const __grid_constant__ CUtensorMap /*c_map*/, const RungProblem p) {
  extern __shared__ std::byte shared_bytes[];
  Shared& shared = shared_at_1024<Shared>(shared_bytes);
  const WaitBound bound{&shared.abandoned, p.timed_out};
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&shared.full, 1);  // the announcement
    shared.abandoned = 0;
    publish_barriers();
  }
  // Without it threads may wait on a barrier that does not exist yet. And where a block has timed
  // out this one would only time out once more: one thread asks, so that all decide alike.
  if (__syncthreads_or(threadIdx.x == 0 && *bound.timed_out != 0 ? 1 : 0) != 0) return;

  const auto row_a = static_cast<std::int32_t>(blockIdx.x % p.m_tiles * kTileM);
  const auto row_b = static_cast<std::int32_t>(blockIdx.x / p.m_tiles * kTileN);
  const std::uint64_t a = k_major_swizzle128(shared_address(shared.a));
  const std::uint64_t b = k_major_swizzle128(shared_address(shared.b));
  std::uint32_t d[32];
  for (std::uint32_t block = 0; block < p.k_blocks; ++block) {
    if (threadIdx.x == 0) {
      const std::uint32_t bytes = sizeof(Shared::a) + sizeof(Shared::b);
      // The one arrival of this phase, and the bytes of both boxes, those outside the matrices
      // included. Without the announcement the phase would complete before the data.
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                     &shared.full, bytes);
      const std::int32_t at_a[2] = {static_cast<std::int32_t>(block * kTileK), row_a};
      const std::int32_t at_b[2] = {static_cast<std::int32_t>(block * kTileK), row_b};
      ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, shared.a, &a_map, at_a,
                                &shared.full);
      ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, shared.b, &b_map, at_b,
                                &shared.full);
    }
    // Every thread waits itself: only the phase that a thread has seen complete shows it the bytes.
    const bool in_time = wait_within_bound(shared.full, block & 1U, bound, false);
    __syncwarp();   // lanes may leave the wait apart; the .aligned instructions need them together
    wgmma_fence();  // without it the accumulators' registers may still be in use elsewhere
#pragma unroll
    for (std::uint32_t k16 = 0; k16 < kTileK / 16; ++k16)
      // The first product of a tile overwrites whatever the registers held.
      wgmma<Form>(d, a + 2 * k16, b + 2 * k16, block + k16 != 0 ? 1U : 0U);
    wgmma_commit();
    wgmma_wait<0>();  // without it the next copy would overwrite what wgmma still reads
    hold_accumulators(d);
    // And the other warps' wgmma; the whole block gives up together.
    if (__syncthreads_or(in_time ? 0 : 1) != 0) break;
  }
  store_accumulators<Out>(d, p, static_cast<std::uint32_t>(row_a),
                          static_cast<std::uint32_t>(row_b));
  leave(bound);
}

}  // namespace

RungKernel tma_wgmma_rung(GemmOutput output) {
  return {.kernel = output == GemmOutput::f32
                        ? reinterpret_cast<const void*>(&tma_wgmma_64<float>)
                        : reinterpret_cast<const void*>(&tma_wgmma_64<__nv_bfloat16>),
          .tile_m = kTileM,
          .tile_n = kTileN,
          .threads = kThreads,
          .shared_bytes = kSharedBytes,
          .a_box_rows = kTileM,
          .b_box_rows = kTileN};
}

}  // namespace tidemark
