// Kernels for all that the plain ones leave out, with f16 operands: alpha and beta, operands whose
// contiguous index is M or N, and every type of C.
#include "kernels/cuda/gemm/engine/instances.cuh"

namespace tidemark::kernels {

std::span<const EngineKernel> general_f16_kernels() {
  static const std::vector kKernels = [] {
    std::vector<EngineKernel> all;
    for (const std::vector<EngineKernel>& some :
         {general_kernels<kGeneralShape, MmaType::f16>(),
          general_kernels<kTurnStreamShape, MmaType::f16>(),
          general_kernels<kStreamBesideShape, MmaType::f16>(),
          b_k_major_kernels<kStreamShape200, MmaType::f16>()})
      all.insert(all.end(), some.begin(), some.end());
    return all;
  }();
  return kKernels;
}

}  // namespace tidemark::kernels
