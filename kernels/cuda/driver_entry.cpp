// Asks the CUDA runtime for the driver's functions.
#include "kernels/cuda/driver_entry.hpp"

#include <cuda_runtime_api.h>
#include <fmt/core.h>

#include "kernels/cuda/check.hpp"

namespace tidemark::kernels {

void* driver_entry(const char* name, unsigned version) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult answer = cudaDriverEntryPointSymbolNotFound;
  const std::string what = fmt::format("look up {}", name);
  // By version: the unversioned look-up fails on some drivers newer than the runtime.
  cuda_check(cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &answer),
             what.c_str());
  if (answer != cudaDriverEntryPointSuccess || found == nullptr)
    throw Error(fmt::format("the driver has no {}: install a driver for CUDA {}.{} or newer", name,
                            version / 1000, version % 1000 / 10));
  return found;
}

}  // namespace tidemark::kernels
