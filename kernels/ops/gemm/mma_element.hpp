// The element types that wgmma multiplies, and small integers written in them: products and sums of
// those are exact in the accumulator, so that a result can be compared bit by bit.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/ops/tensor_map.hpp"

namespace tidemark {

/// Types of A and B; both have the same. PTX ISA 9.0, 9.7.15.2.
enum class MmaType : std::uint8_t { f16, bf16, tf32, e4m3, e5m2, s8, u8 };
inline constexpr std::uint32_t kMmaTypes = 7;

/// Bytes of K that one wgmma takes, whatever the type: k8 of tf32, k16 of f16, k32 of s8.
inline constexpr std::uint32_t kStepBytes = 32;

constexpr std::string_view name_of(MmaType type) {
  constexpr std::string_view kNames[kMmaTypes] = {"f16",  "bf16", "tf32", "e4m3",
                                                  "e5m2", "s8",   "u8"};
  return kNames[static_cast<std::uint32_t>(type)];
}

constexpr bool is_integer(MmaType type) { return type >= MmaType::s8; }

/// What a tensor map calls the type: it knows no 8-bit type but u8, and moves the bits of all of
/// these as they are (tf32 as long as the low 13 bits are zero, as those of small integers are).
constexpr DataType data_type(MmaType type) {
  switch (type) {
    case MmaType::f16:
      return DataType::f16;
    case MmaType::bf16:
      return DataType::bf16;
    case MmaType::tf32:
      return DataType::tf32;
    default:
      return DataType::u8;
  }
}

constexpr std::uint32_t element_bytes(MmaType type) { return element_bytes(data_type(type)); }

/// Elements along K of one wgmma.
constexpr std::uint32_t step_elements(MmaType type) { return kStepBytes / element_bytes(type); }

/// Widths of a floating format; a tf32 element is stored as an f32. Zeros for integers.
struct FloatFormat {
  std::uint32_t exponent = 0, mantissa = 0;  // bits
};

constexpr FloatFormat float_format(MmaType type) {
  constexpr FloatFormat kFormats[kMmaTypes] = {{5, 10}, {8, 7}, {8, 23}, {4, 3},
                                               {5, 2},  {0, 0}, {0, 0}};
  return kFormats[static_cast<std::uint32_t>(type)];
}

/// The integer that an element stands for whose random bits are `raw`: all of s8 or u8, -8..7 in
/// f16, bf16 and tf32, -4..3 in the 8-bit floats. Flipping every bit of `raw` never keeps it.
constexpr std::int32_t integer_of(MmaType type, std::uint32_t raw) {
  switch (type) {
    case MmaType::s8:
      return static_cast<std::int8_t>(raw & 0xffU);
    case MmaType::u8:
      return static_cast<std::int32_t>(raw & 0xffU);
    case MmaType::e4m3:
    case MmaType::e5m2:
      return static_cast<std::int32_t>(raw & 7U) - 4;
    default:
      return static_cast<std::int32_t>(raw & 15U) - 8;
  }
}

/// `value` in the format of `type`; one that integer_of() gives, so that nothing is rounded.
constexpr std::uint32_t bits_of(MmaType type, std::int32_t value) {
  if (is_integer(type)) return static_cast<std::uint32_t>(value) & 0xffU;
  if (value == 0) return 0;
  const FloatFormat format = float_format(type);
  const auto magnitude = static_cast<std::uint32_t>(value < 0 ? -value : value);
  std::uint32_t exponent = 0;
  while (magnitude >> (exponent + 1) != 0) ++exponent;
  const std::uint32_t bias = (1U << (format.exponent - 1)) - 1;
  const std::uint32_t mantissa =
      (magnitude << format.mantissa >> exponent) & ((1U << format.mantissa) - 1);
  const std::uint32_t sign = value < 0 ? 1U << (format.exponent + format.mantissa) : 0;
  return sign | ((exponent + bias) << format.mantissa) | mantissa;
}
static_assert(bits_of(MmaType::f16, 1) == 0x3c00 && bits_of(MmaType::f16, -7) == 0xc700);
static_assert(bits_of(MmaType::bf16, 1) == 0x3f80 && bits_of(MmaType::bf16, -8) == 0xc100);
static_assert(bits_of(MmaType::tf32, 3) == 0x40400000);
static_assert(bits_of(MmaType::e4m3, 1) == 0x38 && bits_of(MmaType::e5m2, -3) == 0xc2);
static_assert(bits_of(MmaType::s8, -1) == 0xff);

}  // namespace tidemark
