// C = A B^T on Hopper: one producer thread moves tiles by TMA into a ring in shared memory, two
// warpgroups multiply them with wgmma; mbarriers pass the stages of the ring to and fro.
//
// - Warpgroup 0, thread 0: wait empty[s], announce the bytes on full[s], issue three TMA loads.
// - Warpgroup 1, rows 0..63 of the tile: wait full[s], four wgmma, release empty[s] when done.
// - Warpgroup 2, rows 64..127: likewise.
//
// Persistent: a block takes tiles blockIdx.x, blockIdx.x + gridDim.x, ...; the ring runs on across
// tiles, so the loads of the next tile are under way while the last one is stored. Tails need no
// code: TMA fills what lies outside a matrix with zeros and counts its bytes all the same, and zero
// products add nothing; only the store looks at the bounds of C.
#include <cuda_bf16.h>

#include <algorithm>
#include <cstdint>
#include <cuda/ptx>
#include <string>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/encode.hpp"
#include "kernels/cuda/gemm/local_gemm.hpp"
#include "kernels/cuda/gemm/raster.hpp"
#include "kernels/cuda/ptx/mbarrier.cuh"
#include "kernels/cuda/ptx/wgmma.cuh"

namespace tidemark {
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

struct Problem {
  void* c = nullptr;
  std::uint64_t ldc = 0;
  std::uint32_t m = 0, n = 0;
  std::uint32_t m_tiles = 0, n_tiles = 0, k_blocks = 0;
  std::uint32_t* timed_out = nullptr;
};

/// Where a role is in the ring. Both roles count the same way over all tiles of the block, so they
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

/// Waits until the phase of `parity` is complete, for at most kKernelWaitNs. False when the bound
/// passed or another thread of the block has given up: nothing was waited for then, `timed_out`
/// names this wait or the other's, and every role is to run out without waiting again.
__device__ __forceinline__ bool wait(std::uint64_t& barrier, std::uint32_t parity, Ring& ring,
                                     std::uint32_t* timed_out, bool producer) {
  // Acquire: without it the accesses behind the wait could be made before the flip.
  if (ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cta, &barrier, parity))
    return true;
  volatile std::uint32_t& given_up = ring.abandoned;
  const std::uint64_t start = ptx::get_sreg_globaltimer();
  while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cta, &barrier, parity)) {
    if (given_up != 0) return false;
    if (ptx::get_sreg_globaltimer() - start > kKernelWaitNs) {
      given_up = 1;
      // Several may write: each of them tells the truth.
      *timed_out = timed_out_word({.producer = producer, .block = blockIdx.x});
      return false;
    }
  }
  return true;
}

/// Whether some thread of the block has given up.
__device__ __forceinline__ bool abandoned(const Ring& ring) {
  return static_cast<const volatile std::uint32_t&>(ring.abandoned) != 0;
}

/// The producer thread: fills the ring for every tile of this block.
__device__ __forceinline__ void produce(Ring& ring, const CUtensorMap& a_map,
                                        const CUtensorMap& b_map, const Problem& p) {
  RingAt at;
  const std::uint32_t tiles = p.m_tiles * p.n_tiles;
  for (std::uint32_t index = blockIdx.x; index < tiles; index += gridDim.x) {
    const TileAt tile = tile_at(index, p.m_tiles, p.n_tiles);
    const auto row_a = static_cast<std::int32_t>(tile.m * kTileM);
    const auto row_b = static_cast<std::int32_t>(tile.n * kTileN);
    for (std::uint32_t block = 0; block < p.k_blocks; ++block) {
      // A fresh barrier is in phase 0, and the phase before counts as complete: the inverted parity
      // lets the first pass through and afterwards waits for the consumers' release. Without this
      // wait TMA would overwrite what wgmma still reads. Consumers that have given up release
      // stages that never arrived: a second announcement there would be one arrival too many.
      if (!wait(ring.empty[at.stage], at.parity ^ 1, ring, p.timed_out, true) || abandoned(ring))
        return;
      Stage& stage = ring.stage[at.stage];
      std::uint64_t* full = &ring.full[at.stage];
      // The one arrival that full[s] counts, and the bytes of all three boxes, those outside the
      // matrices included. Without the announcement the phase would complete before the data.
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
}

/// Two neighbours of one row of C. Where n is odd the last column stands alone.
__device__ __forceinline__ void store_pair(float* c, float left, float right, bool both) {
  if (both)
    *reinterpret_cast<float2*>(c) = {left, right};
  else
    *c = left;
}
__device__ __forceinline__ void store_pair(__nv_bfloat16* c, float left, float right, bool both) {
  if (both)
    *reinterpret_cast<__nv_bfloat162*>(c) = __floats2bfloat162_rn(left, right);
  else
    *c = __float2bfloat16_rn(left);
}

/// Writes the accumulators of one warpgroup, whose rows start at `row0`, in the order in which
/// wgmma_m64n256k16 leaves them. Nothing outside C is touched.
template <class Out>
__device__ __forceinline__ void store_accumulators(const float (&d)[128], const Problem& p,
                                                   std::uint32_t row0, std::uint32_t column0) {
  const std::uint32_t thread = threadIdx.x % kWarpgroup;
  const std::uint32_t row = row0 + thread / 32 * 16 + thread % 32 / 4;
  const std::uint32_t column = column0 + thread % 4 * 2;
  // Pairs lie on their own size: columns are even and rows of C start on 16 bytes.
  Out* upper = static_cast<Out*>(p.c) + row * p.ldc + column;
  Out* lower = upper + 8 * p.ldc;
#pragma unroll
  for (std::uint32_t j = 0; j < kTileN / 8; ++j) {
    const bool first = column + 8 * j < p.n;
    const bool both = column + 8 * j + 1 < p.n;
    if (first && row < p.m) store_pair(upper + 8 * j, d[4 * j], d[4 * j + 1], both);
    if (first && row + 8 < p.m) store_pair(lower + 8 * j, d[4 * j + 2], d[4 * j + 3], both);
  }
}

/// A consumer warpgroup: multiplies what the ring brings and stores its half of every tile. It runs
/// on after a wait that failed, over stale bytes: wgmma needs all four warps to keep step, and the
/// host discards C.
template <class Out>
__device__ __forceinline__ void consume(Ring& ring, const Problem& p, std::uint32_t half) {
  const auto ring_address = static_cast<std::uint32_t>(__cvta_generic_to_shared(ring.stage));
  const std::uint32_t a_offset = half * kConsumerRows * kTileK * sizeof(__nv_bfloat16);
  const std::uint64_t first_a = k_major_swizzle128(ring_address + a_offset);
  const std::uint64_t first_b =
      k_major_swizzle128(ring_address + static_cast<std::uint32_t>(offsetof(Stage, b)));
  const auto release = [&ring](std::uint32_t stage) {
    // One arrival a warp: each has waited for its own wgmma. Without it the stage is never
    // refilled.
    if (threadIdx.x % 32 == 0)
      ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &ring.empty[stage]);
    __syncwarp();  // without it lane 0 could come late to the next .aligned instruction
  };

  RingAt at;
  bool in_time = true;
  const std::uint32_t tiles = p.m_tiles * p.n_tiles;
  for (std::uint32_t index = blockIdx.x; index < tiles; index += gridDim.x) {
    const TileAt tile = tile_at(index, p.m_tiles, p.n_tiles);
    float d[128];
    std::uint32_t held = 0;  // the stage that the wgmma in flight read
    for (std::uint32_t block = 0; block < p.k_blocks; ++block) {
      // Without this wait wgmma would read a stage that has not arrived.
      if (in_time) in_time = wait(ring.full[at.stage], at.parity, ring, p.timed_out, false);
      // Lanes may leave the wait's loop apart; the .aligned instructions below need them together.
      __syncwarp();
      const std::uint64_t a = first_a + at.stage * (sizeof(Stage) >> 4);
      const std::uint64_t b = first_b + at.stage * (sizeof(Stage) >> 4);
      wgmma_fence();  // without it the accumulators' registers may still be in use elsewhere
#pragma unroll
      for (std::uint32_t k16 = 0; k16 < kTileK / 16; ++k16)
        // The first product of a tile overwrites whatever the registers held.
        wgmma_m64n256k16(d, a + 2 * k16, b + 2 * k16, block + k16 != 0 ? 1U : 0U);
      wgmma_commit();   // without it the wait below would count no group
      wgmma_wait<1>();  // the group before this one is done: its stage can go back
      if (block != 0) release(held);
      held = at.stage;
      at.advance();
    }
    wgmma_wait<0>();  // without it the accumulators are stored unfinished
    hold_accumulators(d);
    release(held);
    store_accumulators<Out>(d, p, tile.m * kTileM + half * kConsumerRows, tile.n * kTileN);
  }
}

template <class Out>
__global__ void __launch_bounds__(kThreads, 1)
    tma_wgmma(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
              const Problem p) {
  // A launch before this one timed out: its sequel would only time out once more, block by block.
  if (*static_cast<const volatile std::uint32_t*>(p.timed_out) != 0) return;
  extern __shared__ std::byte shared_bytes[];
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared_bytes));
  // On 1024 bytes the swizzle of TMA and that of the descriptors start at the same row.
  Ring& ring = *reinterpret_cast<Ring*>(shared_bytes + (1024 - address % 1024) % 1024);

  if (threadIdx.x == 0) {
    for (std::uint32_t s = 0; s < kStages; ++s) {
      ptx::mbarrier_init(&ring.full[s], 1);  // the producer's announcement
      const std::uint32_t releases = kConsumerWarps;
      ptx::mbarrier_init(&ring.empty[s], releases);
    }
    ring.abandoned = 0;
    // The copies' complete_tx is an access at cluster scope: unfenced it may find the memory as it
    // was before the init.
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    // And it comes through the async proxy, which sees an ordinary write only behind this fence.
    ptx::fence_proxy_async(ptx::space_shared);
  }
  __syncthreads();  // without it consumers may wait on barriers that do not exist yet

  // From lane 0, so that the compiler sees one value a warp and setmaxnreg's branch is uniform.
  const std::uint32_t warpgroup = __shfl_sync(0xffffffffU, threadIdx.x / kWarpgroup, 0);
  if (warpgroup == 0) {
    // 128 x (40 + 2 x 232) registers: what the launch gave 384 threads at 168 each. Without the
    // exchange the 128 accumulators, descriptors and pointers of a consumer would spill.
    setmaxnreg_dec<40>();
    if (threadIdx.x == 0) produce(ring, a_map, b_map, p);
  } else {
    setmaxnreg_inc<232>();
    consume<Out>(ring, p, warpgroup - 1);
  }
  // The consumers wait for every stage that is filled, so no copy is in flight when a block ends.
  // After a wait that failed some may be: give those that are merely slow ten milliseconds to land
  // before this memory goes to another block.
  if (abandoned(ring)) quiesce(10'000'000);
}

/// A K-major matrix of bf16 as TMA reads it, in boxes of 64 k x 128 rows.
TensorMapSpec k_major_map(std::uint64_t rows, std::uint64_t k, std::uint64_t pitch) {
  return {.type = DataType::bf16,
          .rank = 2,
          .extent = {k, rows},
          .stride = {pitch * sizeof(__nv_bfloat16)},
          .box = {kTileK, kBoxRows},
          .swizzle = Swizzle::b128,
          .l2_promotion = L2Promotion::b256};
}

const void* kernel_for(GemmOutput output) {
  return output == GemmOutput::f32 ? reinterpret_cast<const void*>(&tma_wgmma<float>)
                                   : reinterpret_cast<const void*>(&tma_wgmma<__nv_bfloat16>);
}

constexpr std::uint64_t tiles_of(std::uint64_t elements, std::uint64_t tile) {
  return (elements + tile - 1) / tile;
}

}  // namespace

TmaWgmma prepare_tma_wgmma(const LocalGemm& gemm) {
  // TMA coordinates are signed 32-bit numbers, and a tile may reach one box past the end.
  constexpr std::uint64_t kMost = (1ULL << 31) - kTileN;
  const std::uint64_t tiles = tiles_of(gemm.m, kTileM) * tiles_of(gemm.n, kTileN);
  if (gemm.m > kMost || gemm.n > kMost || gemm.k > kMost || tiles > kMost)
    throw Error("gemm: a block of " + std::to_string(gemm.m) + " x " + std::to_string(gemm.n) +
                " over k = " + std::to_string(gemm.k) +
                " is too large for 32-bit coordinates: use more ranks");
  TmaWgmma ready{.gemm = gemm};
  const Encoded a = encode(k_major_map(gemm.m, gemm.k, gemm.pitch), gemm.a);
  const Encoded b = encode(k_major_map(gemm.n, gemm.k, gemm.pitch), gemm.b);
  ready.code = a.code != CUDA_SUCCESS ? a.code : b.code;
  ready.a_map = a.map;
  ready.b_map = b.map;

  int device = 0;
  int multiprocessors = 0;
  cuda_check(cudaGetDevice(&device), "ask for the current GPU");
  cuda_check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
             "ask for the number of SMs");
  ready.blocks =
      static_cast<std::uint32_t>(std::min(tiles, static_cast<std::uint64_t>(multiprocessors)));
  cuda_check(cudaFuncSetAttribute(kernel_for(gemm.output),
                                  cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes),
             "give the GEMM kernel its shared memory");
  return ready;
}

void launch_tma_wgmma(const TmaWgmma& ready, std::uint32_t* timed_out, cudaStream_t stream) {
  const LocalGemm& gemm = ready.gemm;
  Problem problem{.c = gemm.c,
                  .ldc = gemm.ldc,
                  .m = static_cast<std::uint32_t>(gemm.m),
                  .n = static_cast<std::uint32_t>(gemm.n),
                  .m_tiles = static_cast<std::uint32_t>(tiles_of(gemm.m, kTileM)),
                  .n_tiles = static_cast<std::uint32_t>(tiles_of(gemm.n, kTileN)),
                  .k_blocks = static_cast<std::uint32_t>(tiles_of(gemm.k, kTileK)),
                  .timed_out = timed_out};
  void* arguments[] = {const_cast<CUtensorMap*>(&ready.a_map),
                       const_cast<CUtensorMap*>(&ready.b_map), &problem};
  cuda_check(cudaLaunchKernel(kernel_for(gemm.output), dim3(ready.blocks), dim3(kThreads),
                              arguments, kSharedBytes, stream),
             "launch the GEMM kernel");
}

}  // namespace tidemark
