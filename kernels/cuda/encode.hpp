// TensorMapSpec to CUtensorMap, by the driver.
#pragma once

#include <cuda.h>

#include <array>
#include <cstdint>
#include <string>

#include "kernels/ops/tensor_map.hpp"

namespace tidemark::kernels {

/// What the driver answered. `map` is zero where it refused.
struct Encoded {
  CUtensorMap map{};
  CUresult code = CUDA_SUCCESS;
};

/// Encodes `spec` for the tensor at `address`: cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col
/// (CUDA Driver API, tensor map object management), interleave none. A refusal is a value. Throws
/// Error where the driver lacks the function, StickyError where an earlier kernel has cost this
/// process its GPU.
Encoded encode(const TensorMapSpec& spec, void* address);

/// "cuTensorMapEncodeTiled refused the tensor map: CUDA_ERROR_INVALID_VALUE (1)".
std::string encode_refusal(CUresult code, const TensorMapSpec& spec = {});

/// The 128 bytes of a map, as kept in RunResult::descriptor.
std::array<std::uint8_t, 128> descriptor_bytes(const CUtensorMap& map);

}  // namespace tidemark::kernels
