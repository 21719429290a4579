// Kernels for operands of e4m3 and e5m2, both K-major (the tensor cores take no others), with alpha
// and beta and every type of C.
#include "kernels/cuda/gemm/engine/instances.cuh"

namespace tidemark {
namespace {

template <TileShape kShape, MmaType type>
std::vector<EngineKernel> k_major_kernels() {
  return general_kernels<kShape, type, false, false, float, __nv_bfloat16, __half>();
}

}  // namespace

std::span<const EngineKernel> fp8_kernels() {
  static const std::vector kKernels = joined({k_major_kernels<kFp8Wide, MmaType::e4m3>(),
                                              k_major_kernels<kFp8Wide, MmaType::e5m2>(),
                                              k_major_kernels<kFp8Narrower, MmaType::e4m3>(),
                                              k_major_kernels<kFp8Narrower, MmaType::e5m2>()});
  return kKernels;
}

}  // namespace tidemark
