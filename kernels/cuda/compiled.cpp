// Asks the runtime for the attributes of kernels.
#include "kernels/cuda/compiled.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "kernels/cuda/check.hpp"
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

}  // namespace

RunResult run_compiled(const CompiledKernel& op) {
  const std::vector<NamedKernel> all = named_kernels();
  if (all.size() != kCompiledKernels || op.kernel >= all.size())
    throw Error(fmt::format("kernel {} of {}", op.kernel, all.size()));
  cudaFuncAttributes of{};
  cuda_check(cudaFuncGetAttributes(&of, all[op.kernel].kernel), "ask for what a kernel takes");
  RunResult result;
  result.trace = {static_cast<std::uint64_t>(of.numRegs), of.localSizeBytes, of.sharedSizeBytes,
                  static_cast<std::uint64_t>(of.maxThreadsPerBlock),
                  static_cast<std::uint64_t>(of.binaryVersion)};
  result.note =
      fmt::format("{}: {} registers, {} bytes of stack, {} of shared memory, at most {} threads",
                  all[op.kernel].name, of.numRegs, of.localSizeBytes, of.sharedSizeBytes,
                  of.maxThreadsPerBlock);
  return result;
}

}  // namespace tidemark
