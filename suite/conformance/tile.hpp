// Builds tile loads in few words, so that a case file shows only what it varies.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/ops/tile_load.hpp"

namespace tidemark {

/// One plain type for each element size.
inline constexpr std::array<DataType, 4> kTypeOfEachSize{DataType::u8, DataType::u16, DataType::u32,
                                                         DataType::u64};

/// Every swizzle that moves bytes.
inline constexpr std::array<Swizzle, 3> kSwizzles{Swizzle::b32, Swizzle::b64, Swizzle::b128};

/// Elements of `type` in `bytes`.
constexpr std::uint32_t elements_in(std::uint32_t bytes, DataType type) {
  return bytes / element_bytes(type);
}

/// Dimension 0 moves in steps of 16 bytes: the elements in one.
constexpr std::int32_t inner_step(DataType type) {
  return static_cast<std::int32_t>(elements_in(16, type));
}

/// A load of `box` at `at` (all zeros where empty) from a tensor whose rows are padded to 16 bytes
/// and whose outer strides are packed. `extent` and `box` have one entry a dimension.
TileLoad tile(DataType type, const std::vector<std::uint64_t>& extent,
              const std::vector<std::uint32_t>& box, const std::vector<std::int32_t>& at = {});

/// A load of a tensor of `rank` whose extents all differ, so that exchanged dimensions show. The
/// box is smaller in every dimension and starts one step inside.
TileLoad tile_of_rank(DataType type, std::uint32_t rank);

/// The step in which `at` may move along dimension `i`: 16 bytes in dimension 0, else one element.
std::int32_t step_of(const TileLoad& load, std::uint32_t i);

/// The highest coordinate at which the box lies within the tensor along dimension `i`; negative
/// where the box is larger than the tensor.
std::int32_t highest_inside(const TileLoad& load, std::uint32_t i);

/// Puts the box into a corner: bit i of `corner` says which end of dimension i. It hangs out by
/// `overhang` steps in every dimension; 0 keeps it within.
TileLoad in_corner(TileLoad load, std::uint32_t corner, std::int32_t overhang);

/// A legal load of any rank, type, swizzle, fill, hint and source, anywhere about its tensor; a
/// function of `seed` alone.
TileLoad random_tile(std::uint64_t seed);

}  // namespace tidemark
