// Rung 4: roles. A producer thread keeps a ring of four stages filled by TMA, two warpgroups
// multiply what has arrived, and mbarriers pass the stages to and fro: copies and products overlap
// within one block, and nobody waits for all. The tile is 128 x 128, one a block.
#include <cuda_bf16.h>

#include <cstdint>

#include "kernels/cuda/gemm/ladder/parts.cuh"
#include "kernels/cuda/gemm/ladder/ring.cuh"
#include "kernels/cuda/gemm/ladder/rung.hpp"
#include "kernels/cuda/ptx/wgmma.cuh"

namespace tidemark {
namespace {

using Ring = RungRing<RungBuffers<128>>;

template <class Out>
__global__ void __launch_bounds__(kRingThreads, 1)
    ring_of_stages(const __grid_constant__ CUtensorMap a_map,
                   const __grid_constant__ CUtensorMap b_map,
                   const __grid_constant__ CUtensorMap /*c_map*/, const RungProblem p) {
  const auto produce = [&](RungProducer<Ring>& producer) {
    producer.load_tile(blockIdx.x % p.m_tiles * kRingTileM, blockIdx.x / p.m_tiles * Ring::kTileN);
  };
  const auto consume = [&](RungConsumer<Ring>& consumer) {
    std::uint32_t d[64];
    for (std::uint32_t k_block = 0; k_block < p.k_blocks; ++k_block) {
      consumer.start_stage(d, k_block);
      wgmma_wait<0>();  // without it the stage would go back while wgmma still reads it
      hold_accumulators(d);
      consumer.release(consumer.at.stage);
      consumer.at.advance();
    }
    store_accumulators<Out>(d, p, blockIdx.x % p.m_tiles * kRingTileM + consumer.first_row(),
                            blockIdx.x / p.m_tiles * Ring::kTileN);
  };
  run_roles<Ring>(a_map, b_map, p, produce, consume);
}

}  // namespace

RungKernel ring_rung(GemmOutput output) {
  return rung_kernel<Ring>(output, &ring_of_stages<float>, &ring_of_stages<__nv_bfloat16>);
}

}  // namespace tidemark
