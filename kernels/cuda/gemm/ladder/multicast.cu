// Rung 7: pairs of blocks. Two neighbours along M need the same columns of B: each loads half of
// them and multicasts it into both, so the pair reads 64 KiB of L2 a step where two blocks alone
// would read 96. A stage is then free only when the consumers of both blocks are done with it.
#include <cuda_bf16.h>

#include <cstdint>

#include "kernels/cuda/gemm/ladder/parts.cuh"
#include "kernels/cuda/gemm/ladder/ring.cuh"
#include "kernels/cuda/gemm/ladder/rung.hpp"

namespace tidemark {
namespace {

using Ring = RungRing<RungBuffers<256>, 2>;

template <class Out>
__global__ void __launch_bounds__(kRingThreads, 1)
    multicast(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
              const __grid_constant__ CUtensorMap /*c_map*/, const RungProblem p) {
  const std::uint32_t first = blockIdx.x / Ring::kCluster;  // tile of the pair
  const std::uint32_t step = gridDim.x / Ring::kCluster;    // to its next one
  const auto produce = [&](RungProducer<Ring>& producer) {
    // Where the pair's second CTA lies wholly below the matrix its A is all zeros, and its half of
    // B is needed all the same.
    const std::uint32_t tiles = p.m_tiles * p.n_tiles;
    for (std::uint32_t tile = first; tile < tiles; tile += step)
      if (!producer.load_tile((tile % p.m_tiles * Ring::kCluster + producer.rank) * kRingTileM,
                              tile / p.m_tiles * Ring::kTileN))
        return;
  };
  const auto consume = [&](RungConsumer<Ring>& consumer) {
    const std::uint32_t tiles = p.m_tiles * p.n_tiles;
    for (std::uint32_t tile = first; tile < tiles; tile += step) {
      float d[128];
      consumer.multiply_tile(d);
      const std::uint32_t row =
          (tile % p.m_tiles * Ring::kCluster + consumer.rank) * kRingTileM + consumer.first_row();
      store_accumulators<Out>(d, p, row, tile / p.m_tiles * Ring::kTileN);
    }
  };
  run_roles<Ring>(a_map, b_map, p, produce, consume);
}

}  // namespace

RungKernel multicast_rung(GemmOutput output) {
  RungKernel rung = rung_kernel<Ring>(output, &multicast<float>, &multicast<__nv_bfloat16>);
  rung.persistent = true;
  return rung;
}

}  // namespace tidemark
