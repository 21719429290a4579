// What the elements of a source hold, so that no data type converts them on their way.
#pragma once

#include <cstdint>

#include "kernels/ops/payload.hpp"
#include "kernels/ops/tensor_map.hpp"

namespace tidemark::kernels {

/// 32-bit word `index` of a source of `type`. The types that a copy may convert (f32_ftz, tf32,
/// tf32_ftz) hold only normal numbers that every documented rounding keeps as they are: neither
/// subnormal nor infinite, and for tf32 with ten mantissa bits, so that for these types the
/// inverted payload does not flip every bit. All other types hold the plain hash, NaN patterns
/// included.
constexpr std::uint32_t source_element_word(const Payload& payload, DataType type,
                                            std::uint64_t index) {
  auto word = static_cast<std::uint32_t>(source_word(payload, index / 2) >> (32 * (index % 2)));
  if (type >= DataType::f32_ftz) {
    const std::uint32_t exponent = (word >> 23) % 253 + 1;  // 1..253
    const std::uint32_t mantissa = type == DataType::f32_ftz ? 0x7fffffU : 0x7fe000U;
    word = (word & (0x80000000U | mantissa)) | (exponent << 23);
  }
  return word;
}

}  // namespace tidemark::kernels
