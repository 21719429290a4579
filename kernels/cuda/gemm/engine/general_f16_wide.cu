// Kernels for all that the plain ones leave out, with f16 operands, in tiles of 128 x 256, in
// pairs: alpha and beta, operands whose contiguous index is M or N, and every type of C.
#include "kernels/cuda/gemm/engine/instances.cuh"

namespace tidemark {

std::span<const EngineKernel> general_f16_wide_kernels() {
  static const std::vector kKernels = all_general_kernels<kWidePair, MmaType::f16>();
  return kKernels;
}

}  // namespace tidemark
