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

/// Which of the two factors an element belongs to.
enum class GemmOperand : std::uint8_t { a, b };

/// Element of A (`row` of M, `k`) or of B (`row` is its column n of N, `k`), as bf16 bits.
constexpr std::uint16_t gemm_element(GemmInputs inputs, GemmOperand operand, std::uint64_t seed,
                                     std::uint64_t row, std::uint64_t k) {
  const std::uint64_t stream = splitmix64(seed ^ (operand == GemmOperand::a ? 0xa1ULL : 0xb2ULL));
  const std::uint64_t hash = splitmix64(stream + splitmix64(row) + 0xd1342543de82ef95ULL * k);
  if (inputs == GemmInputs::small_integers)
    return to_bf16(static_cast<float>(static_cast<int>(hash % 7) - 3));
  const auto sum = static_cast<std::int32_t>((hash & 0xffffU) + ((hash >> 16) & 0xffffU) +
                                             ((hash >> 32) & 0xffffU) + (hash >> 48));
  return to_bf16(static_cast<float>(sum - 131070) * (1.0F / 37837.0F));
}

}  // namespace tidemark
