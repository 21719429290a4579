// The elements of A and B by global index: any rank can make any block, and the matrices do not
// depend on how many ranks there are.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kernels/ops/payload.hpp"

namespace tidemark {

enum class GemmInputs : std::uint8_t {
  normal,          // about N(0, 1): the sum of four 16-bit uniforms, scaled
  small_integers,  // -3..3: products and sums are exact in fp32 while K < 1.8 million
  octal_digits,    // 0..7, exact in every type: sums grow with K, about 12 K, and are exact in fp32
                   // while K < 342 thousand
  ones,         // each element of C is K: what is left out of a sum, or in it twice, shows how much
  permutation,  // A of -128..127, one 1 in each column of B, at permuted_k(): each element of C is
                // one of A, or 0 where that lies behind K. Exact in bf16 and fp16
};

constexpr std::string_view name_of(GemmInputs inputs) {
  constexpr std::string_view kNames[] = {"normal", "small_integers", "octal_digits", "ones",
                                         "permutation"};
  return kNames[static_cast<std::size_t>(inputs)];
}

/// The largest magnitude of an element of integer inputs.
constexpr std::uint32_t largest_integer(GemmInputs inputs) {
  if (inputs == GemmInputs::ones) return 1;
  if (inputs == GemmInputs::permutation) return 128;
  return inputs == GemmInputs::octal_digits ? 7 : 3;
}

/// The largest magnitude that a sum of `k` products of them may come to.
constexpr std::uint64_t largest_sum(GemmInputs inputs, std::uint64_t k) {
  const std::uint64_t largest = largest_integer(inputs);
  return inputs == GemmInputs::permutation ? largest : k * largest * largest;
}

/// GemmInputs::permutation: where column `n` of B has its 1. Swaps columns within blocks of 64, as
/// the seed says, so that no two have the same.
constexpr std::uint64_t permuted_k(std::uint64_t seed, std::uint64_t n) {
  return n ^ (splitmix64(seed) % 64);
}

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

/// An 8-bit float with `kMantissa` bits behind the point and exponents from 1 - `kBias` on.
template <std::uint32_t kMantissa, std::uint32_t kBias, std::uint8_t kLargest>
struct Fp8 {
  static constexpr std::uint32_t kShift = 23 - kMantissa;
  static constexpr std::uint32_t kLowest = (127 + 1 - kBias) << 23;  // the least normal, as fp32

  /// Rounds to the nearest, ties to even; the largest finite number from there on, as
  /// cvt.rn.satfinite does.
  static constexpr std::uint16_t of(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = bits >> 24 & 0x80U;
    const std::uint32_t magnitude = bits & 0x7fffffffU;
    if (magnitude > 0x7f800000U) return static_cast<std::uint16_t>(sign | 0x7fU);
    std::uint32_t rounded = 0;
    if (magnitude <
        kLowest) {  // multiples of the last place of a power of two, added and taken off
      constexpr std::uint32_t kPower = kLowest + (kShift << 23);
      rounded = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) +
                                             std::bit_cast<float>(kPower)) -
                kPower;
    } else {
      const std::uint32_t half = (1U << (kShift - 1)) - 1 + ((magnitude >> kShift) & 1U);
      rounded = (magnitude + half - ((127 - kBias) << 23)) >> kShift;
    }
    return static_cast<std::uint16_t>(sign | (rounded < kLargest ? rounded : kLargest));
  }

  /// The number behind finite bits.
  static constexpr float finite(std::uint32_t bits) {
    const std::uint32_t magnitude = bits & 0x7fU;
    const std::uint32_t sign = (bits & 0x80U) << 24;
    if (magnitude < 1U << kMantissa) {
      const float least = std::bit_cast<float>(kLowest - (kMantissa << 23));
      const float value = static_cast<float>(magnitude) * least;
      return sign != 0 ? -value : value;
    }
    return std::bit_cast<float>(sign | ((magnitude << kShift) + ((127 - kBias) << 23)));
  }
};
using FormatE4m3 = Fp8<3, 7, 0x7e>;   // up to 448; no infinities, and one NaN of either sign
using FormatE5m2 = Fp8<2, 15, 0x7b>;  // up to 57344; the upper half of an fp16

/// Rounds to the nearest e4m3, or e5m2, in the low byte; saturates. OCP 8-bit Floating Point
/// Specification 1.0, 5.2 and 5.3.
constexpr std::uint16_t to_e4m3(float value) { return FormatE4m3::of(value); }
constexpr std::uint16_t to_e5m2(float value) { return FormatE5m2::of(value); }

/// The number in the low byte.
constexpr float from_e4m3(std::uint16_t bits) {
  if ((bits & 0x7fU) == 0x7f) return std::bit_cast<float>(0x7fc00000U);
  return FormatE4m3::finite(bits);
}
constexpr float from_e5m2(std::uint16_t bits) {
  return from_f16(static_cast<std::uint16_t>(bits << 8));
}

/// Numbers that are not finite, as an input may be.
enum class NonFinite : std::uint8_t { nan, infinity, minus_infinity };

/// Whose element: of the factors A and B, or of C as it is before the product.
enum class GemmOperand : std::uint8_t { a, b, c };

/// Which index of an operand is contiguous in memory.
enum class Major : std::uint8_t { k, mn };

/// What A and B are made of. Both have the same type; fp8 is K-major only.
enum class GemmElement : std::uint8_t { bf16, f16, e4m3, e5m2 };

constexpr std::string_view name_of(GemmElement element) {
  constexpr std::string_view kNames[] = {"bf16", "f16", "e4m3", "e5m2"};
  return kNames[static_cast<std::size_t>(element)];
}

constexpr bool is_fp8(GemmElement element) { return element >= GemmElement::e4m3; }

/// Bytes of an element in memory.
constexpr std::uint64_t element_bytes(GemmElement element) { return is_fp8(element) ? 1 : 2; }

/// Bits of `value` in its type, those of fp8 in the low byte.
constexpr std::uint16_t to_element(GemmElement element, float value) {
  if (element == GemmElement::e4m3) return to_e4m3(value);
  if (element == GemmElement::e5m2) return to_e5m2(value);
  return element == GemmElement::bf16 ? to_bf16(value) : to_f16(value);
}
constexpr float from_element(GemmElement element, std::uint16_t bits) {
  if (element == GemmElement::e4m3) return from_e4m3(bits);
  if (element == GemmElement::e5m2) return from_e5m2(bits);
  return element == GemmElement::bf16 ? from_bf16(bits) : from_f16(bits);
}

/// e4m3 has no infinities: what is asked for as one is its NaN (layout_refusal() says so before).
constexpr std::uint16_t to_element(GemmElement element, NonFinite value) {
  constexpr std::uint16_t kNan[] = {0x7fc0, 0x7e00, 0x7f, 0x7f};
  constexpr std::uint16_t kInfinity[] = {0x7f80, 0x7c00, 0x7f, 0x7c};
  if (value == NonFinite::nan) return kNan[static_cast<std::size_t>(element)];
  std::uint16_t sign = 0;
  if (value == NonFinite::minus_infinity) sign = is_fp8(element) ? 0x80 : 0x8000;
  return static_cast<std::uint16_t>(kInfinity[static_cast<std::size_t>(element)] | sign);
}

/// Element of A (`row` of M, `k`), of B (`row` is its column n of N, `k`) or of C (`row` of M, `k`
/// is its column n of N), before it is rounded to its type.
constexpr float gemm_value(GemmInputs inputs, GemmOperand operand, std::uint64_t seed,
                           std::uint64_t row, std::uint64_t k) {
  if (inputs == GemmInputs::ones) return 1;
  if (inputs == GemmInputs::permutation && operand == GemmOperand::b)
    return k == permuted_k(seed, row) ? 1 : 0;
  constexpr std::uint64_t kStreams[] = {0xa1, 0xb2, 0xc3};
  const std::uint64_t stream = splitmix64(seed ^ kStreams[static_cast<std::uint8_t>(operand)]);
  const std::uint64_t hash = splitmix64(stream + splitmix64(row) + 0xd1342543de82ef95ULL * k);
  if (inputs == GemmInputs::small_integers)
    return static_cast<float>(static_cast<int>(hash % 7) - 3);
  if (inputs == GemmInputs::octal_digits) return static_cast<float>(hash % 8);
  if (inputs == GemmInputs::permutation)
    return static_cast<float>(static_cast<int>(hash % 256) - 128);
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
