// Rung 5: a tile of 128 x 256. Twice the products for one and a half times the bytes, and the
// widest wgmma, which reads least shared memory a product. Its 128 accumulators a thread fit
// because the producer's warps give registers away (setmaxnreg). One product stays in flight while
// the stage of the one before goes back.
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
    wide_tile(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
              const __grid_constant__ CUtensorMap /*c_map*/, const RungProblem p) {
  const auto produce = [&](RungProducer<Ring>& producer) {
    producer.load_tile(blockIdx.x % p.m_tiles * kRingTileM, blockIdx.x / p.m_tiles * Ring::kTileN);
  };
  const auto consume = [&](RungConsumer<Ring>& consumer) {
    float d[128];
    consumer.multiply_tile(d);
    store_accumulators<Out>(d, p, blockIdx.x % p.m_tiles * kRingTileM + consumer.first_row(),
                            blockIdx.x / p.m_tiles * Ring::kTileN);
  };
  run_roles<Ring>(a_map, b_map, p, produce, consume);
}

}  // namespace

RungKernel wide_tile_rung(GemmOutput output) {
  return rung_kernel<Ring>(output, &wide_tile<float>, &wide_tile<__nv_bfloat16>);
}

}  // namespace tidemark
