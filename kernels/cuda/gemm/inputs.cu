// Inputs are made where they are used: no rank sends or reads what it can compute.
#include "kernels/cuda/gemm/inputs.hpp"

#include <algorithm>

#include "kernels/cuda/check.hpp"
#include "kernels/ops/payload.hpp"

namespace tidemark {
namespace {

constexpr std::uint32_t kThreads = 256;
constexpr std::uint64_t kMostBlocks = 65536;  // grid-stride loops do the rest
constexpr std::uint32_t kVector = 8;          // elements a thread writes at once: 16 bytes

/// One thread makes eight neighbours of one row.
__global__ void __launch_bounds__(kThreads)
    fill(PanelRows rows, GemmInputs inputs, GemmOperand operand, std::uint64_t seed) {
  const std::uint64_t vectors_a_row = rows.pitch / kVector;
  const std::uint64_t vectors = rows.rows * vectors_a_row;
  for (std::uint64_t at = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; at < vectors;
       at += std::uint64_t{gridDim.x} * kThreads) {
    const std::uint64_t row = at / vectors_a_row;
    const std::uint64_t first_k = at % vectors_a_row * kVector;
    alignas(16) std::uint16_t values[kVector];
#pragma unroll
    for (std::uint32_t i = 0; i < kVector; ++i)
      values[i] = first_k + i < rows.k
                      ? gemm_element(inputs, operand, seed, rows.first_global + row, first_k + i)
                      : std::uint16_t{0};
    reinterpret_cast<uint4*>(rows.base)[at] = *reinterpret_cast<const uint4*>(values);
  }
}

/// One thread a byte of the two guards.
__global__ void poison_guards(std::byte* allocation, std::uint64_t bytes, Payload payload) {
  const std::uint32_t offset = blockIdx.x * blockDim.x + threadIdx.x;
  if (offset >= 2 * kGuardBytes) return;
  const std::uint64_t at = offset < kGuardBytes ? offset : bytes + offset;
  allocation[at] = std::byte{poison_byte(payload, offset)};
}

}  // namespace

void launch_fill(const PanelRows& rows, GemmInputs inputs, GemmOperand operand, std::uint64_t seed,
                 cudaStream_t stream) {
  const std::uint64_t vectors = rows.rows * (rows.pitch / kVector);
  if (vectors == 0) return;  // CUDA refuses an empty grid
  const std::uint64_t blocks = std::min((vectors + kThreads - 1) / kThreads, kMostBlocks);
  fill<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(rows, inputs, operand, seed);
  cuda_check(cudaGetLastError(), "launch the kernel that makes the GEMM's inputs");
}

void launch_poison(std::byte* allocation, std::uint64_t bytes, std::uint64_t seed,
                   cudaStream_t stream) {
  if (bytes != 0)
    cuda_check(cudaMemsetAsync(allocation + kGuardBytes, 0xff, bytes, stream), "poison C");
  poison_guards<<<2 * kGuardBytes / kThreads, kThreads, 0, stream>>>(allocation, bytes,
                                                                     Payload{.seed = seed});
  cuda_check(cudaGetLastError(), "launch the kernel that poisons the guards of C");
}

}  // namespace tidemark
