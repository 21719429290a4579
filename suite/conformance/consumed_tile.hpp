// Builds consumed tiles in few words, so that a case shows only what it varies.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/ops/tile_consume.hpp"

namespace tidemark {

inline constexpr std::array<MmaType, kMmaTypes> kEveryMmaType{
    MmaType::f16,  MmaType::bf16, MmaType::tf32, MmaType::e4m3,
    MmaType::e5m2, MmaType::s8,   MmaType::u8};
inline constexpr std::array<Swizzle, 4> kEverySwizzle{Swizzle::none, Swizzle::b32, Swizzle::b64,
                                                      Swizzle::b128};
inline constexpr std::array<std::uint32_t, 5> kEveryN{8, 16, 32, 64, 128};

/// Elements along K of `type` in `spans` whole spans of a K-major tile; without a swizzle a span
/// counts as one step.
constexpr std::uint32_t k_of_spans(MmaType type, Swizzle swizzle, std::uint32_t spans) {
  const std::uint32_t span = swizzle == Swizzle::none ? kStepBytes : swizzle_bytes(swizzle);
  return spans * span / element_bytes(type);
}

/// Both operands laid out alike, read as written, at the start of their 1024 bytes; taken from the
/// inside of matrices whose extents all differ.
TileConsume consumed(MmaType type, Major a, Major b, Swizzle swizzle, std::uint32_t n,
                     std::uint32_t k);

/// The narrowest tile of B, 8 columns and up, that fills a span of `swizzle` when N-major.
constexpr std::uint32_t n_of_span(Swizzle swizzle) {
  return swizzle == Swizzle::none ? 8 : swizzle_bytes(swizzle) / 2;
}

/// A legal product read as it was written, of any type, layout, width, depth and place; a function
/// of `seed` alone.
TileConsume random_consumed(std::uint64_t seed);

}  // namespace tidemark
