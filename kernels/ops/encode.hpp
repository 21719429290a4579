// One call of the driver's encoder of tensor maps, with any arguments: also those that it refuses.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/ops/tensor_map.hpp"

namespace tidemark {

/// Where the tensor lies. The encoder is asked about no memory: it is never read.
inline constexpr std::uint64_t kEncodeAddress = std::uint64_t{1} << 40;

/// cuTensorMapEncodeTiled of `map`, or cuTensorMapEncodeIm2col where it says so, of a tensor
/// map.base_offset behind `address`; on the host alone. Enumerators may be any number.
/// RunResult::code becomes the CUresult. Where that is 0, RunResult::maps has the map; and
/// with `replacement` the code is that of cuTensorMapReplaceAddress behind it, and RunResult::bytes
/// the map that it left, and the one of an encoder asked for that address at once, if it takes it.
/// A refused call that wrote to the map all the same leaves that in RunResult::trace, one word
/// of 1. CUDA Driver API 13.0, tensor map object management.
struct Encode {
  TensorMapSpec map{};
  std::uint64_t address = kEncodeAddress;
  std::uint64_t replacement = 0;  // an address; 0: none
  std::uint32_t map_offset = 0;   // bytes from a multiple of 128 on to where the map is written
  bool no_strides = false;        // the pointer to them is null
  std::string sound = {};   // the call that it is a change of: "tiled, f32, rank 3, swizzle 64"
  std::string change = {};  // what is not as in that one, in words
};

/// The enumerators of CUtensorMapDataType and CUtensorMapSwizzle behind those of DataType and
/// Swizzle, up to here, are of later GPUs: packed types, and atoms within 128 bytes.
inline constexpr std::uint32_t kEncodeDataTypes = 16, kEncodeSwizzles = 7;

}  // namespace tidemark
