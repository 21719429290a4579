// Kernels beside the engine: references without tensor cores, inputs, poison, and work of a chosen
// length.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/gemm/local_gemm.hpp"
#include "kernels/ops/gemm/gemm_inputs.hpp"

namespace tidemark {

// A product of any kind that Gemm can ask for, as plainly as a GPU can do it, and its inputs: what
// the engine's general kernels are compared with.

/// C = alpha A B^T + beta C on `stream`: one thread an element, fused multiply-adds in order of k.
/// A and B are not read where alpha is 0 or k is, C not where beta is 0. m and n are at least 1.
void launch_general_reference(const LocalGemm& gemm, cudaStream_t stream);

/// Writes A or B of `gemm` on `stream` as it lies in memory; what is behind the elements of a row
/// is bytes of 0xff, a NaN in all types.
void launch_general_fill(const Gemm& gemm, GemmOperand operand, std::byte* to, cudaStream_t stream);

/// Writes C of `gemm` as it is before the product, on `stream`. The padding of its rows is left
/// alone.
void launch_fill_c(const Gemm& gemm, std::byte* c, cudaStream_t stream);

// What a GEMM finds in device memory: inputs by global index, poison where C and its guards are.

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

// Work for all SMs that takes a chosen time: what a benchmark without units is slowed by, and what
// leaves other kernels no SM.

/// Starts, on `stream`, products of bf16 matrices (wgmma) on every SM for `ns` (at most 0.5 s; more
/// is cut). A kernel that needs 3 KiB of shared memory has no room beside them. What runs before it
/// in the stream has ended by then. To the time comes that of a launch, some microseconds.
void launch_spin(std::uint64_t ns, cudaStream_t stream);

}  // namespace tidemark
