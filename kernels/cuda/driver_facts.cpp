// Asks driver and runtime what they say of themselves, of the GPU, and of kernels.
#include "kernels/cuda/driver_facts.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/encode.hpp"
#include "kernels/cuda/gemm/engine/engine.hpp"
#include "kernels/cuda/program/program_kernel.hpp"
#include "kernels/cuda/stress/stress_kernel.hpp"

namespace tidemark {
namespace {

struct NamedKernel {
  std::string name;
  const void* kernel;
};

std::vector<NamedKernel> named_kernels() {
  std::vector<NamedKernel> all{{"programs", program_kernel()}};
  constexpr const char* kStresses[] = {"stress.load", "stress.load_loaded", "stress.multicast",
                                       "stress.store"};
  for (std::size_t i = 0; i < std::size(kStresses); ++i)
    all.push_back({kStresses[i], stress_kernels()[i]});
  for (const EngineKernel& engine : engine_kernels())
    if (!engine.general && engine.output == GemmOutput::bf16)
      all.push_back({fmt::format("gemm.{}x{}{}{}", engine.shape.tile_m, engine.shape.tile_n,
                                 engine.shape.cluster_m > 1 ? "_pair" : "",
                                 engine.shape.ping_pong ? "_ping_pong" : ""),
                     engine.kernel});
  return all;
}

class Answers {
 public:
  Answers(RunResult& result, std::string subject) : result_(result), subject_(std::move(subject)) {}

  template <class Number>
  void add(std::string question, Number answer, std::string unit = {}) {
    result_.answers.push_back({.subject = subject_,
                               .question = std::move(question),
                               .unit = std::move(unit),
                               .answer = static_cast<std::int64_t>(answer)});
  }

 private:
  RunResult& result_;
  std::string subject_;
};

void ask_of_kernel(std::uint32_t number, RunResult& result) {
  const std::vector<NamedKernel> all = named_kernels();
  if (all.size() != kNamedKernels || number >= all.size())
    throw Error(fmt::format("kernel {} of {}", number, all.size()));
  cudaFuncAttributes of{};
  cuda_check(cudaFuncGetAttributes(&of, all[number].kernel), "ask for what a kernel takes");
  Answers answers(result, all[number].name);
  answers.add(kRegisters, of.numRegs);
  answers.add("stack", of.localSizeBytes, "bytes");
  answers.add("shared memory", of.sharedSizeBytes, "bytes");
  answers.add(kMostThreads, of.maxThreadsPerBlock);
  answers.add(kArchitecture, of.binaryVersion);
}

/// Which GPU of a machine it is, and not what it can do.
bool is_place(int attribute) {
  constexpr int kPlaces[] = {CU_DEVICE_ATTRIBUTE_PCI_BUS_ID,
                             CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID,
                             CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID,
                             CU_DEVICE_ATTRIBUTE_NUMA_ID,
                             CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID,
                             CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID};
  return std::ranges::find(kPlaces, attribute) != std::end(kPlaces);
}

void ask_for_attributes(RunResult& result) {
  constexpr int kBehindAll = 256;  // cuda.h 13.0 ends at 147
  const auto attribute_of =
      reinterpret_cast<decltype(&cuDeviceGetAttribute)>(driver_entry("cuDeviceGetAttribute", 2000));
  int device = 0;  // runtime and driver number alike the GPUs that a process sees
  cuda_check(cudaGetDevice(&device), "ask for the current device");
  Answers answers(result, "device attribute");
  for (int i = 1; i < kBehindAll; ++i)
    if (int value = 0; !is_place(i) && attribute_of(&value, static_cast<CUdevice_attribute>(i),
                                                    device) == CUDA_SUCCESS)
      answers.add(std::to_string(i), value);
}

void ask_for_limits(RunResult& result) {
  constexpr int kBehindAll = 32;
  const auto limit_of =
      reinterpret_cast<decltype(&cuCtxGetLimit)>(driver_entry("cuCtxGetLimit", 3010));
  Answers answers(result, "context limit");
  for (int i = 1; i < kBehindAll; ++i)  // CU_LIMIT_STACK_SIZE is what the last launches needed
    if (std::size_t value = 0; limit_of(&value, static_cast<CUlimit>(i)) == CUDA_SUCCESS)
      answers.add(std::to_string(i), value);
}

void ask_for_clusters(RunResult& result) {
  const std::uint32_t most = prepare_programs();
  Answers answers(result, "clusters that fit");
  for (const std::uint32_t shared_bytes : kClusterSharedBytes)
    for (std::uint32_t ctas = 1; ctas <= 16; ++ctas) {
      cudaLaunchAttribute size{};
      size.id = cudaLaunchAttributeClusterDimension;
      size.val.clusterDim = {.x = ctas, .y = 1, .z = 1};
      cudaLaunchConfig_t config{};
      config.gridDim = dim3(ctas);
      config.blockDim = dim3(128);
      config.dynamicSmemBytes = std::min(shared_bytes, most);
      config.attrs = &size;
      config.numAttrs = 1;
      int clusters = 0;
      if (cudaOccupancyMaxActiveClusters(&clusters, program_kernel(), &config) != cudaSuccess) {
        static_cast<void>(cudaGetLastError());  // not to be found by the next launch
        clusters = -1;
      }
      answers.add(cluster_question(ctas, shared_bytes), clusters);
    }
}

void ask_for_entry_points(RunResult& result) {
  constexpr const char* kFunctions[] = {"cuTensorMapEncodeTiled",
                                        "cuTensorMapEncodeIm2col",
                                        "cuTensorMapEncodeIm2colWide",
                                        "cuTensorMapReplaceAddress",
                                        "cuLaunchKernelEx",
                                        "cuMulticastCreate",
                                        "cuGreenCtxCreate",
                                        "cuMemBatchDecompressAsync",
                                        "cuCheckpointProcessLock",
                                        "cuLogsRegisterCallback",
                                        "cuMemGetHandleForAddressRange",
                                        "cuCtxRecordEvent"};
  Answers answers(result, "entry point");
  for (const char* const name : kFunctions) {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult answer = cudaDriverEntryPointSymbolNotFound;
    const cudaError_t code =
        cudaGetDriverEntryPointByVersion(name, &found, CUDA_VERSION, cudaEnableDefault, &answer);
    answers.add(name, code == cudaSuccess && answer == cudaDriverEntryPointSuccess ? 1 : 0);
  }
}

}  // namespace

RunResult run_driver_facts(const DriverFacts& op) {
  RunResult result;
  switch (op.subject) {
    case DriverSubject::kernel:
      ask_of_kernel(op.number, result);
      break;
    case DriverSubject::attributes:
      ask_for_attributes(result);
      break;
    case DriverSubject::limits:
      ask_for_limits(result);
      break;
    case DriverSubject::clusters:
      ask_for_clusters(result);
      break;
    case DriverSubject::entry_points:
      ask_for_entry_points(result);
      break;
  }
  return result;
}

}  // namespace tidemark
