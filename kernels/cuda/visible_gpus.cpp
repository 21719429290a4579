// The GPUs that CUDA shows, by their UUIDs.
#include "kernels/cuda/visible_gpus.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <fmt/core.h>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/cuda/check.hpp"
#include "kernels/device.hpp"

namespace tidemark {

// Asks CUDA which GPUs this process may use, and which of them are slices.

namespace {

using UuidOf = CUresult (*)(CUuuid*, CUdevice);

/// cuDeviceGetUuid as of CUDA `version`, or null: 9020 names the whole GPU, 11040 the MIG slice.
UuidOf look_up_uuid(unsigned version) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult answer = cudaDriverEntryPointSymbolNotFound;
  const cudaError_t code = cudaGetDriverEntryPointByVersion("cuDeviceGetUuid", &found, version,
                                                            cudaEnableDefault, &answer);
  if (code != cudaSuccess || answer != cudaDriverEntryPointSuccess) {
    (void)cudaGetLastError();
    return nullptr;
  }
  return reinterpret_cast<UuidOf>(found);
}

/// The UUID that nvidia-smi shows: of the slice where CUDA shows one, else of the GPU.
std::string uuid_of(int device, const cudaDeviceProp& properties) {
  CUuuid whole{};
  CUuuid part{};
  const UuidOf whole_gpu = look_up_uuid(9020);
  const UuidOf slice = look_up_uuid(11040);
  const bool known = whole_gpu != nullptr && slice != nullptr &&
                     whole_gpu(&whole, device) == CUDA_SUCCESS &&
                     slice(&part, device) == CUDA_SUCCESS;
  if (!known) std::memcpy(&part, &properties.uuid, sizeof(part));
  // CUDA puts the profile into a slice's name: "NVIDIA H200 MIG 1g.18gb".
  const bool sliced = (known && std::memcmp(&whole, &part, sizeof(part)) != 0) ||
                      std::strstr(properties.name, " MIG ") != nullptr;
  std::array<std::uint8_t, 16> bytes{};
  std::memcpy(bytes.data(), &part, bytes.size());
  return uuid_text(sliced ? "MIG" : "GPU", bytes);
}

GpuProperties describe_gpu(int device, int driver, int runtime) {
  cudaDeviceProp properties{};
  cuda_check(cudaGetDeviceProperties(&properties, device), "ask for the properties of a GPU");
  GpuProperties gpu;
  gpu.uuid = uuid_of(device, properties);
  gpu.pci = fmt::format("{:04x}:{:02x}:{:02x}.0", properties.pciDomainID, properties.pciBusID,
                        properties.pciDeviceID);
  gpu.name = properties.name;
  gpu.compute_capability = static_cast<std::uint32_t>(10 * properties.major + properties.minor);
  gpu.sm_count = static_cast<std::uint32_t>(properties.multiProcessorCount);
  gpu.memory_bytes = properties.totalGlobalMem;
  gpu.driver_version = static_cast<std::uint32_t>(driver);
  gpu.runtime_version = static_cast<std::uint32_t>(runtime);
  return gpu;
}

}  // namespace

std::vector<GpuProperties> visible_gpus() {
  int driver = 0;
  int runtime = 0;
  cuda_check(cudaDriverGetVersion(&driver), "ask for the driver's version");
  cuda_check(cudaRuntimeGetVersion(&runtime), "ask for the runtime's version");
  if (driver == 0) return {};  // libcuda is not there

  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code == cudaErrorNoDevice) {
    (void)cudaGetLastError();
    return {};
  }
  if (code == cudaErrorInsufficientDriver)
    throw Error(
        fmt::format("the NVIDIA driver speaks CUDA {}.{}, this program needs {}.{}: "
                    "install a newer driver",
                    driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10));
  cuda_check(code, "count the GPUs");
  std::vector<GpuProperties> gpus;
  gpus.reserve(static_cast<std::size_t>(count));
  for (int device = 0; device < count; ++device)
    gpus.push_back(describe_gpu(device, driver, runtime));
  return gpus;
}

// Groups of 4, 2, 2, 2 and 6 bytes in hexadecimal.

std::string uuid_text(std::string_view kind, const std::array<std::uint8_t, 16>& bytes) {
  std::string text(kind);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text;
}

}  // namespace tidemark
