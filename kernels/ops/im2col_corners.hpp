// The order of the corner arrays that cuTensorMapEncodeIm2col takes, which documents contradict.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/ops/tensor_map.hpp"

namespace tidemark::kernels {

/// cuda.h (CUDA 13.0) writes {D, H, W}; CUTLASS passes {W, H, D}. While it is not settled by a
/// measurement, encode() passes {W, H, D}, rows whose corners are not the same along all of their
/// dimensions are recorded by behaviour.load.im2col_corners, and no other row has any. This
/// constant alone decides it.
enum class CornerOrder : std::uint8_t { unsettled, whd, dhw };
inline constexpr CornerOrder kCornerOrder = CornerOrder::unsettled;

/// The map that a device sees where it takes the corner arrays in the other order.
constexpr TensorMapSpec with_corners_reversed(TensorMapSpec map) {
  std::reverse(map.lower_corner.begin(), map.lower_corner.begin() + spatial_of(map));
  std::reverse(map.upper_corner.begin(), map.upper_corner.begin() + spatial_of(map));
  return map;
}

/// Whether the order of the corner arrays makes a difference.
constexpr bool has_ordered_corners(const TensorMapSpec& map) {
  return map.im2col && !(with_corners_reversed(map) == map);
}

}  // namespace tidemark::kernels
