// The rules by which cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col refuse a tensor map.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/ops/tensor_map.hpp"

namespace tidemark::kernels {

/// CUDA_ERROR_INVALID_VALUE: the CUresult of every refusal.
inline constexpr std::int32_t kEncodeRefusedCode = 1;

/// The first documented rule that `map` breaks, in words, or nothing where it breaks none.
/// CUDA Driver API 13.0, cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col, interleave none. What
/// the documents leave open (strides of 0 or below the row, a box larger than the tensor) is
/// allowed, but for pixels of no channels, columns of no pixels, and pixels off 16 bytes.
std::string refusal_of(const TensorMapSpec& map);

}  // namespace tidemark::kernels
