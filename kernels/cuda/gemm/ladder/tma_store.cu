// Rung 8: C leaves by TMA. Each consumer warp puts its sums into small boxes of shared memory and
// has TMA carry them to C while it multiplies the next tile; nobody waits for the writes to reach
// memory. And the order of tiles is chosen: pairs that work at one time cover a patch of C that is
// about square, so that what they read is shared in L2.
#include <cuda_bf16.h>

#include <cstddef>
#include <cstdint>
#include <cuda/ptx>

#include "kernels/cuda/gemm/c_tiles.hpp"
#include "kernels/cuda/gemm/ladder/parts.cuh"
#include "kernels/cuda/gemm/ladder/ring.cuh"
#include "kernels/cuda/gemm/ladder/rung.hpp"
#include "kernels/cuda/ptx/wgmma.cuh"

namespace tidemark {
namespace {

namespace ptx = cuda::ptx;

constexpr std::uint32_t kBoxes = 2;  // of staging a warp: one is filled, one is carried off
static_assert(kStagingBytes % 1024 == 0, "the swizzle repeats every 1024 bytes of address");

struct StagedBuffers : RungBuffers<256> {
  std::byte staging[kRingConsumerWarps][kBoxes][kStagingBytes];
};
using Ring = RungRing<StagedBuffers, 2>;

/// Puts 128 bytes of each of a warp's 16 rows into a staging box: accumulators `first` on.
__device__ __forceinline__ void fill_box(std::byte* box, const float (&d)[128], std::uint32_t first,
                                         std::uint32_t lane, const __nv_bfloat16* /*type*/) {
  const auto packed = [&d](std::uint32_t i) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(d[i], d[i + 1]);
    return *reinterpret_cast<const std::uint32_t*>(&pair);
  };
#pragma unroll
  for (std::uint32_t chunk = 0; chunk < 8; chunk += 2) {
    const std::uint32_t i = first + 4 * chunk;
    stmatrix_x4(shared_address(box) + staged_matrix_row(lane, chunk), packed(i), packed(i + 2),
                packed(i + 4), packed(i + 6));
  }
}
__device__ __forceinline__ void fill_box(std::byte* box, const float (&d)[128], std::uint32_t first,
                                         std::uint32_t lane, const float* /*type*/) {
#pragma unroll
  for (std::uint32_t group = 0; group < 4; ++group) {
    const std::uint32_t i = first + 4 * group;
    std::byte* const to = box + staged_pair(lane, group);
    *reinterpret_cast<float2*>(to) = {d[i], d[i + 1]};
    *reinterpret_cast<float2*>(to + kEightRowsOn) = {d[i + 2], d[i + 3]};
  }
}

/// Has TMA carry one warp's 16 x 256 sums to C from (row0, column0), 128 bytes of each row at once.
template <class Out>
__device__ __forceinline__ void send(std::byte (&boxes)[kBoxes][kStagingBytes],
                                     const float (&d)[128], const CUtensorMap& c_map,
                                     const RungProblem& p, std::uint32_t row0,
                                     std::uint32_t column0) {
  constexpr std::uint32_t kColumns = kStagingRowBytes / sizeof(Out);
  const std::uint32_t lane = threadIdx.x % 32;
#pragma unroll
  for (std::uint32_t i = 0; i < Ring::kTileN / kColumns; ++i) {
    std::byte* const box = boxes[i % kBoxes];
    // The store before the last has read this box; without it that store would carry off the new
    // sums. Groups belong to the thread that made them: only lane 0 has any to wait for.
    if (lane == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<kBoxes - 1>{});
    __syncwarp();  // and the other lanes wait for lane 0
    fill_box(box, d, i * kColumns / 2, lane, static_cast<const Out*>(nullptr));
    // TMA reads through the async proxy, which sees the writes of each lane only behind its fence.
    ptx::fence_proxy_async(ptx::space_shared);
    __syncwarp();  // without it lane 0 could send the box before the others have filled it
    const std::uint32_t column = column0 + i * kColumns;
    if (lane == 0) {
      const std::int32_t to[2] = {static_cast<std::int32_t>(column),
                                  static_cast<std::int32_t>(row0)};
      // TMA clips at the edges of C; a box wholly outside is not sent at all.
      if (row0 < p.m && column < p.n)
        ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &c_map, to, box);
      ptx::cp_async_bulk_commit_group();  // an empty group, too, so that the wait above can count
    }
  }
}

template <class Out>
__global__ void __launch_bounds__(kRingThreads, 1)
    tma_store(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
              const __grid_constant__ CUtensorMap c_map, const RungProblem p) {
  if (threadIdx.x == 0) {  // the producer's maps and the consumers'
    prefetch_tensor_map(a_map);
    prefetch_tensor_map(b_map);
    prefetch_tensor_map(c_map);
  }
  const std::uint32_t first = blockIdx.x / Ring::kCluster;  // tile of the pair
  const std::uint32_t step = gridDim.x / Ring::kCluster;    // to its next one
  const auto produce = [&](RungProducer<Ring>& producer) {
    const std::uint32_t tiles = p.m_tiles * p.n_tiles;
    for (std::uint32_t tile = first; tile < tiles; tile += step) {
      const TileAt at_c = tile_at(tile, p.m_tiles, p.n_tiles);
      if (!producer.load_tile((at_c.m * Ring::kCluster + producer.rank) * kRingTileM,
                              at_c.n * Ring::kTileN))
        return;
    }
  };
  const auto consume = [&](RungConsumer<Ring>& consumer) {
    const std::uint32_t warp = threadIdx.x / 32 - kRingWarpgroup / 32;
    auto& staging = consumer.ring.staging[warp];
    const bool whole_chunks = p.n * sizeof(Out) % 16 == 0;
    const std::uint32_t tiles = p.m_tiles * p.n_tiles;
    for (std::uint32_t tile = first; tile < tiles; tile += step) {
      const TileAt at_c = tile_at(tile, p.m_tiles, p.n_tiles);
      float d[128];
      consumer.multiply_tile(d);
      const std::uint32_t row =
          (at_c.m * Ring::kCluster + consumer.rank) * kRingTileM + consumer.first_row();
      // TMA writes whole 16 bytes: where rows of C do not end on them, the last column of tiles
      // would write behind its rows, and goes by plain stores.
      if (whole_chunks || (at_c.n + 1) * Ring::kTileN <= p.n)
        send<Out>(staging, d, c_map, p, row + warp % 4 * kStagingRows, at_c.n * Ring::kTileN);
      else
        store_accumulators<Out>(d, p, row, at_c.n * Ring::kTileN);
    }
    // The memory of this CTA must outlive what TMA still reads of it. Nobody waits for the writes:
    // the end of the kernel does.
    if (consumer.lane == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
  };
  run_roles<Ring>(a_map, b_map, p, produce, consume);
}

}  // namespace

RungKernel tma_store_rung(GemmOutput output) {
  RungKernel rung = rung_kernel<Ring>(output, &tma_store<float>, &tma_store<__nv_bfloat16>);
  rung.c_box_rows = kStagingRows;
  rung.persistent = true;
  return rung;
}

}  // namespace tidemark
