// What a GEMM finds in device memory: inputs by global index, poison where C and its guards are.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/ops/gemm/gemm_inputs.hpp"

namespace tidemark {

/// Consecutive rows of A, or columns of B, as rows of k elements in device memory.
struct PanelRows {
  std::byte* base = nullptr;  // of the first row; on 16 bytes
  std::uint64_t pitch = 0;    // elements from row to row, a multiple of 8
  std::uint64_t k = 0;
  std::uint64_t rows = 0;          // may be 0
  std::uint64_t first_global = 0;  // which row of A or column of B the first row is
};

/// Writes gemm_element() into every row, zeros into its padding.
void launch_fill(const PanelRows& rows, GemmInputs inputs, GemmOperand operand, std::uint64_t seed,
                 cudaStream_t stream);

/// Poisons an allocation of kGuardBytes, `bytes` of C (padding included) and kGuardBytes: C with
/// 0xff, a NaN in fp32 and in bf16, the guards with poison_byte({seed}, i), i their index in
/// RunResult::surroundings (the guard before C first, the one behind it from kGuardBytes on).
void launch_poison(std::byte* allocation, std::uint64_t bytes, std::uint64_t seed,
                   cudaStream_t stream);

}  // namespace tidemark
