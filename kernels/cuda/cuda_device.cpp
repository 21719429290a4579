// Sends each operation to the code that runs it on the GPU. A new operation is one more overload
// here.
#include "kernels/cuda/cuda_device.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <fmt/core.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <variant>
#include <vector>

#include "kernels/cuda/buffer.hpp"
#include "kernels/cuda/check.hpp"
#include "kernels/cuda/driver_facts.hpp"
#include "kernels/cuda/encode.hpp"
#include "kernels/cuda/gemm/cuda_gemm.hpp"
#include "kernels/cuda/peer_tile.hpp"
#include "kernels/cuda/program/program.hpp"
#include "kernels/cuda/stress/stress.hpp"
#include "kernels/device.hpp"

namespace tidemark {
namespace {

class CudaDevice final : public Device {
 public:
  RunResult run(const Op& op) override {
    return std::visit([this](const auto& which) { return run_one(which); }, op);
  }

  std::vector<RunResult> run_programs(std::span<const Program> programs) override {
    return tidemark::run_programs(rows_, programs);
  }

  Measurement measure(const Op& op, const Timing& timing) override {
    return std::visit([&](const auto& which) { return measure_one(which, timing); }, op);
  }

 private:
  RunResult run_one(const Gemm& gemm) { return run_gemm(gemm); }
  template <class RunAsProgram>
  RunResult run_one(const RunAsProgram& /*op*/) {
    throw Error("this operation runs as a program: make one of it with program_of()");
  }
  RunResult run_one(const PeerTile& peer) { return run_peer_tile(rows_, peers_, peer); }
  RunResult run_one(const Stress& stress) { return measure_stress(rows_, stress).last; }
  RunResult run_one(const Encode& op) { return run_encode(op); }
  RunResult run_one(const DriverFacts& op) { return run_driver_facts(op); }

  Measurement measure_one(const Gemm& gemm, const Timing& timing) {
    return measure_gemm(gemm, timing);
  }
  Measurement measure_one(const TileRead& read, const Timing& timing) {
    return measure_column_rate(rows_, read, timing);
  }
  Measurement measure_one(const Stress& stress, const Timing& /*timing*/) {
    return measure_stress(rows_, stress);
  }
  template <typename Untimed>
  Measurement measure_one(const Untimed& /*op*/, const Timing& /*timing*/) {
    throw Error("this operation has no timed form: give it a conformance case");
  }

  RowWorkspace rows_;
  PeerWorkspace peers_;
};

}  // namespace

std::unique_ptr<Device> make_cuda_device() {
  constexpr int kFirst = 0;
  // Not over what the user says. CUDA reads it with its first call.
  (void)setenv("CUDA_DEVICE_MAX_CONNECTIONS", std::to_string(kQueuesToHold).c_str(), 0);
  cuda_check(cudaSetDevice(kFirst), "take the first visible GPU");
  int major = 0;
  int minor = 0;
  cuda_check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, kFirst),
             "ask for the compute capability");
  cuda_check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, kFirst),
             "ask for the compute capability");
  if (major != 9 || minor != 0)
    throw Error(
        fmt::format("the first visible GPU has compute capability {}.{}: tidemark needs "
                    "9.0 (Hopper); choose another with CUDA_VISIBLE_DEVICES",
                    major, minor));
  return std::make_unique<CudaDevice>();
}

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
