// Kernels of C = A B^T, bf16 operands, both K-major.
#include "kernels/cuda/gemm/engine/instances.cuh"

namespace tidemark {

std::span<const EngineKernel> plain_kernels() {
  static const std::vector kKernels =
      joined({plain_kernels<float, kWidePair, kPingPong192, kWide, kPingPongSmall>(),
              plain_kernels<__nv_bfloat16, kWidePair, kPingPong192, kWide, kPingPongSmall>()});
  return kKernels;
}

}  // namespace tidemark
