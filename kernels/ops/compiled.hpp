// What the loaded machine code of a kernel takes: nvcc made it, or under --jit the driver.
#pragma once

#include <cstdint>

namespace tidemark {

/// Kernel number `kernel` of kCompiledKernels: that of programs, those of stresses, and GEMMs of
/// plain bf16 operands. RunResult::trace has one word a CompiledFact, RunResult::note name and
/// facts in words. CUDA Runtime API 13.0, cudaFuncGetAttributes.
struct CompiledKernel {
  std::uint32_t kernel = 0;
  std::uint64_t seed = 0;  // of nothing
};
inline constexpr std::uint32_t kCompiledKernels = 9;

enum class CompiledFact : std::uint8_t {
  registers,     // of a thread
  stack,         // bytes of local memory of a thread
  shared,        // bytes of static shared memory
  most_threads,  // of a block that can be started
  architecture,  // of the code: 90
};

}  // namespace tidemark
