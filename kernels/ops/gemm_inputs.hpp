// The elements of A and B by global index: any rank can make any block, and the matrices do not
// depend on how many ranks there are.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/ops/payload.hpp"

namespace tidemark {

enum class GemmInputs : std::uint8_t {
  normal,          // about N(0, 1): the sum of four 16-bit uniforms, scaled
  small_integers,  // -3..3: products and sums are exact in fp32 while K < 1.8 million
};

/// Rounds to the nearest bf16, ties to even. `value` is finite.
constexpr std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

constexpr float from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

/// Rounds to the nearest fp16, ties to even; infinity from 65520 on.
constexpr std::uint16_t to_f16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return static_cast<std::uint16_t>(sign | 0x7e00U);
  if (magnitude >= 0x47800000U) return static_cast<std::uint16_t>(sign | 0x7c00U);
  std::uint32_t rounded = 0;
  if (magnitude < 0x38800000U)  // below 2^-14: multiples of 2^-24, the last place of 0.5
    rounded = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - 0x3f000000U;
  else
    rounded = (magnitude + 0xfffU + ((magnitude >> 13) & 1U) - 0x38000000U) >> 13;
  return static_cast<std::uint16_t>(sign | rounded);
}

constexpr float from_f16(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000U) << 16;
  const std::uint32_t magnitude = bits & 0x7fffU;
  if (magnitude < 0x400U) {
    const float value = static_cast<float>(magnitude) * 0x1p-24F;
    return sign != 0 ? -value : value;
  }
  const std::uint32_t exponent = magnitude >= 0x7c00U ? 0x70000000U : 0x38000000U;
  return std::bit_cast<float>(sign | ((magnitude << 13) + exponent));
}

/// Numbers that are not finite, as an input may be.
enum class NonFinite : std::uint8_t { nan, infinity, minus_infinity };

/// Whose element: of the factors A and B, or of C as it is before the product.
enum class GemmOperand : std::uint8_t { a, b, c };

/// Which index of an operand is contiguous in memory.
enum class Major : std::uint8_t { k, mn };

/// What A and B are made of.
enum class GemmElement : std::uint8_t { bf16, f16 };

constexpr std::uint16_t to_element(GemmElement element, float value) {
  return element == GemmElement::bf16 ? to_bf16(value) : to_f16(value);
}
constexpr float from_element(GemmElement element, std::uint16_t bits) {
  return element == GemmElement::bf16 ? from_bf16(bits) : from_f16(bits);
}

constexpr std::uint16_t to_element(GemmElement element, NonFinite value) {
  const bool bf16 = element == GemmElement::bf16;
  if (value == NonFinite::nan) return bf16 ? 0x7fc0 : 0x7e00;
  const std::uint16_t infinity = bf16 ? 0x7f80 : 0x7c00;
  const std::uint16_t sign = value == NonFinite::minus_infinity ? 0x8000 : 0;
  return static_cast<std::uint16_t>(infinity | sign);
}

/// Element of A (`row` of M, `k`), of B (`row` is its column n of N, `k`) or of C (`row` of M, `k`
/// is its column n of N), before it is rounded to its type.
constexpr float gemm_value(GemmInputs inputs, GemmOperand operand, std::uint64_t seed,
                           std::uint64_t row, std::uint64_t k) {
  constexpr std::uint64_t kStreams[] = {0xa1, 0xb2, 0xc3};
  const std::uint64_t stream = splitmix64(seed ^ kStreams[static_cast<std::uint8_t>(operand)]);
  const std::uint64_t hash = splitmix64(stream + splitmix64(row) + 0xd1342543de82ef95ULL * k);
  if (inputs == GemmInputs::small_integers)
    return static_cast<float>(static_cast<int>(hash % 7) - 3);
  const auto sum = static_cast<std::int32_t>((hash & 0xffffU) + ((hash >> 16) & 0xffffU) +
                                             ((hash >> 32) & 0xffffU) + (hash >> 48));
  return static_cast<float>(sum - 131070) * (1.0F / 37837.0F);
}

/// Element of A or B as the bits of its type.
constexpr std::uint16_t gemm_element(GemmInputs inputs, GemmOperand operand, std::uint64_t seed,
                                     std::uint64_t row, std::uint64_t k,
                                     GemmElement element = GemmElement::bf16) {
  return to_element(element, gemm_value(inputs, operand, seed, row, k));
}

}  // namespace tidemark
