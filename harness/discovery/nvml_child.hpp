// NVML is asked in processes of its own, never in a supervisor: the library maps libcuda by itself,
// and a call into it may never return.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/device.hpp"
#include "reports/journal/record.hpp"

namespace tidemark {

/// How NVML is reached; tests put their own into all of it.
struct NvmlChild {
  std::string program = "/proc/self/exe";  // a tidemark
  std::string library = "libnvidia-ml.so.1";
  double seconds = 10;  // to answer all questions at once
};

/// One GPU as CUDA and NVML describe it.
struct NvmlAnswer {
  GpuRecord record = {};  // `nvml` stays false where NVML did not answer
  /// Process ids with a compute context on the GPU; those of the asking process and of what it
  /// started are left out. Empty without NVML.
  std::vector<std::uint32_t> foreign_processes = {};
};

/// Asks a short-lived child (`tidemark __nvml`) about these GPUs. One answer a GPU, in their order;
/// what NVML does not say in time stays unknown. Never throws for a driver that fails, and returns
/// within two seconds of `seconds`.
std::vector<NvmlAnswer> ask_nvml(const std::vector<GpuProperties>& gpus,
                                 const NvmlChild& child = {});

/// The child's side: `__nvml LIBRARY GPUS`, the GPUs as JSON. Prints a line for each and returns
/// the exit status.
int nvml_main(int argc, char** argv);

}  // namespace tidemark
