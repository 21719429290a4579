// Rung 6: persistent blocks. One block an SM takes tile after tile, and the ring runs on across
// tiles: the producer is already loading the next tile while the consumers store the last one, and
// barriers, descriptors and registers are set up once.
#include <cuda_bf16.h>

#include <cstdint>

#include "kernels/cuda/gemm/ladder/parts.cuh"
#include "kernels/cuda/gemm/ladder/ring.cuh"
#include "kernels/cuda/gemm/ladder/rung.hpp"

namespace tidemark {
namespace {

using Ring = RungRing<RungBuffers<256>>;

template <class Out>
__global__ void __launch_bounds__(kRingThreads, 1)
    persistent(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
               const __grid_constant__ CUtensorMap /*c_map*/, const RungProblem p) {
  const auto produce = [&](RungProducer<Ring>& producer) {
    const std::uint32_t tiles = p.m_tiles * p.n_tiles;
    for (std::uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x)
      if (!producer.load_tile(tile % p.m_tiles * kRingTileM, tile / p.m_tiles * Ring::kTileN))
        return;
  };
  const auto consume = [&](RungConsumer<Ring>& consumer) {
    const std::uint32_t tiles = p.m_tiles * p.n_tiles;
    for (std::uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      float d[128];
      consumer.multiply_tile(d);
      store_accumulators<Out>(d, p, tile % p.m_tiles * kRingTileM + consumer.first_row(),
                              tile / p.m_tiles * Ring::kTileN);
    }
  };
  run_roles<Ring>(a_map, b_map, p, produce, consume);
}

}  // namespace

RungKernel persistent_rung(GemmOutput output) {
  RungKernel rung = rung_kernel<Ring>(output, &persistent<float>, &persistent<__nv_bfloat16>);
  rung.persistent = true;
  return rung;
}

}  // namespace tidemark
