// A product of any kind that Gemm can ask for, as plainly as a GPU can do it, and its inputs: what
// the engine's general kernels are held against.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/gemm/local_gemm.hpp"

namespace tidemark {

/// C = alpha A B^T + beta C on `stream`: one thread an element, fused multiply-adds in order of k.
/// A and B are not read where alpha is 0 or k is, C not where beta is 0. m and n are at least 1.
void launch_general_reference(const LocalGemm& gemm, cudaStream_t stream);

/// Writes A or B of `gemm` on `stream` as it lies in memory; what is behind the elements of a row
/// is bytes of 0xff, a NaN in all types.
void launch_general_fill(const Gemm& gemm, GemmOperand operand, std::byte* to, cudaStream_t stream);

/// Writes C of `gemm` as it is before the product, on `stream`. The padding of its rows is left
/// alone.
void launch_fill_c(const Gemm& gemm, std::byte* c, cudaStream_t stream);

}  // namespace tidemark
