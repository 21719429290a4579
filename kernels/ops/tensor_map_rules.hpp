// The rules by which cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col refuse a tensor map: those
// of the virtual encoder, and of programs before they run.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/ops/tensor_map.hpp"

namespace tidemark {

/// CUDA_ERROR_INVALID_VALUE: the CUresult of every refusal.
inline constexpr std::int32_t kEncodeRefusedCode = 1;

/// The first documented rule that `map`, which is not bulk, breaks: "stride 130 of dimension 1;
/// cuTensorMapEncode takes multiples of 16 below 2^40"; or nothing where it breaks none.
/// CUDA Driver API 13.0, cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col. What the documents
/// leave open (strides of 0 or below the row, a box larger than the tensor) is allowed, but for
/// pixels of no channels, columns of no pixels, and pixels off 16 bytes.
std::string refusal_of(const TensorMapSpec& map);

/// The same of rank, extents, boxes and element strides alone, behind which tiles have a size.
std::string refusal_of_sizes(const TensorMapSpec& map);

}  // namespace tidemark
