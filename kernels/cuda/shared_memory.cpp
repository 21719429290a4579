// Asks the runtime for the opt-in limit and raises each kernel to it.
#include "kernels/cuda/shared_memory.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>

#include "kernels/cuda/check.hpp"

namespace tidemark::kernels {

std::uint32_t allow_all_shared_memory(std::span<const void* const> kernels) {
  int device = 0;
  int per_block = 0;
  cuda_check(cudaGetDevice(&device), "ask for the current device");
  cuda_check(cudaDeviceGetAttribute(&per_block, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
             "ask for the shared memory of a block");
  auto smallest = static_cast<std::uint32_t>(per_block);
  for (const void* const kernel : kernels) {
    cudaFuncAttributes attributes{};
    cuda_check(cudaFuncGetAttributes(&attributes, kernel), "load a kernel of a tile operation");
    const int dynamic = per_block - static_cast<int>(attributes.sharedSizeBytes);
    cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, dynamic),
               "allow a tile operation all shared memory");
    smallest = std::min(smallest, static_cast<std::uint32_t>(dynamic));
  }
  return smallest;
}

}  // namespace tidemark::kernels
