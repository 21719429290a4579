// Kernels for operands of e4m3 and e5m2, both K-major, with alpha and beta and every type of C. The
// sums of every 128 k are promoted to fp32.
#include "kernels/cuda/gemm/engine/instances.cuh"

namespace tidemark::kernels {

std::span<const EngineKernel> general_fp8_kernels() {
  static const std::vector kKernels = [] {
    std::vector<EngineKernel> all;
    for (const std::vector<EngineKernel>& some :
         {k_major_kernels<kFp8Shape, MmaType::e4m3>(), k_major_kernels<kFp8Shape, MmaType::e5m2>(),
          k_major_kernels<kFp8StreamShape, MmaType::e4m3>(),
          k_major_kernels<kFp8StreamShape, MmaType::e5m2>(),
          k_major_kernels<kFp8Shape192, MmaType::e4m3>(),
          k_major_kernels<kFp8Shape192, MmaType::e5m2>(),
          k_major_kernels<kFp8StreamShape192, MmaType::e4m3>(),
          k_major_kernels<kFp8StreamShape192, MmaType::e5m2>(),
          k_major_kernels<kFp8NarrowShape, MmaType::e4m3>(),
          k_major_kernels<kFp8NarrowShape, MmaType::e5m2>()})
      all.insert(all.end(), some.begin(), some.end());
    return all;
  }();
  return kKernels;
}

}  // namespace tidemark::kernels
