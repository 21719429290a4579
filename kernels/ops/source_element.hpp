// What the elements of a source hold, so that no data type converts them on their way.
#pragma once

#include <bit>
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

/// What the elements of a source are.
enum class Numbers : std::uint8_t {
  hash,      // source_element_word()
  small,     // hashed, of 0..4095 in the element type (u32, s32, f32): sums of them are exact
  counting,  // element i behind the guard is i modulo 4096, in the element type (the same)
};

/// Whether a source of `type` can hold `numbers`.
constexpr bool can_hold(DataType type, Numbers numbers) {
  return numbers == Numbers::hash || type == DataType::u32 || type == DataType::s32 ||
         type == DataType::f32;
}

/// 32-bit word `index` of a source allocation, guard included.
constexpr std::uint32_t region_word(const Payload& payload, DataType type, Numbers numbers,
                                    std::uint64_t index) {
  const std::uint32_t hash = source_element_word(payload, type, index);
  if (numbers == Numbers::hash) return hash;
  constexpr std::uint32_t kLargest = 4095;
  std::uint32_t number = hash & kLargest;
  if (numbers == Numbers::counting) {
    number = static_cast<std::uint32_t>(index - kGuardBytes / 4) & kLargest;
    if (payload.inverted) number ^= kLargest;
  }
  return type == DataType::f32 ? std::bit_cast<std::uint32_t>(static_cast<float>(number)) : number;
}

}  // namespace tidemark::kernels
