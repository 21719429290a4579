// Kernels for operands of e4m3 and e5m2, both K-major, with alpha and beta and every type of C. The
// sums of every 128 k are promoted to fp32.
#include "kernels/cuda/gemm/engine/instances.cuh"

namespace tidemark {

std::span<const EngineKernel> general_fp8_kernels() {
  static const std::vector kKernels = [] {
    std::vector all = k_major_kernels<MmaType::e4m3, float, __nv_bfloat16, __half>();
    const std::vector e5m2 = k_major_kernels<MmaType::e5m2, float, __nv_bfloat16, __half>();
    all.insert(all.end(), e5m2.begin(), e5m2.end());
    return all;
  }();
  return kKernels;
}

}  // namespace tidemark
