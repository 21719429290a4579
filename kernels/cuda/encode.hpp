// Tensor maps as the driver encodes them.
#pragma once

#include <cuda.h>

#include <array>
#include <cstdint>
#include <string>

#include "kernels/device.hpp"
#include "kernels/ops/tensor_map.hpp"

namespace tidemark {

// TensorMapSpec to CUtensorMap, by the driver.

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

/// See Encode. Throws as encode() does.
RunResult run_encode(const Encode& op);

/// "cuTensorMapEncodeTiled refused the tensor map: CUDA_ERROR_INVALID_VALUE (1)".
std::string encode_refusal(CUresult code, const TensorMapSpec& spec = {});

/// The 128 bytes of a map, as kept in RunResult::maps.
std::array<std::uint8_t, 128> descriptor_bytes(const CUtensorMap& map);

// The driver API, looked up at run time, so that the program starts without a driver.

/// The entry point `name` of the driver as of CUDA `version` (12000 for 12.0), of which the driver
/// has to be capable. Throws Error where it is not. The caller knows its type.
void* driver_entry(const char* name, unsigned version);

}  // namespace tidemark
