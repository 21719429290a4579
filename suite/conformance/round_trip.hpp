// Builds tile round trips in few words, so that a case file shows only what it varies.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/ops/tile_store.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark {

/// A map of a tensor whose rows are padded to 16 bytes and whose outer strides are packed. `extent`
/// and `box` have one entry a dimension.
TensorMapSpec map_of(DataType type, const std::vector<std::uint64_t>& extent,
                     const std::vector<std::uint32_t>& box, Swizzle swizzle = Swizzle::none);

/// Boxes side by side from the origin until they cover the tensor; the last may hang over.
TileWalk cover(const TensorMapSpec& map);

/// Every box of `from` to the box of the same number in `to`, one CTA a tile as far as a
/// cluster has them.
TileRoundTrip there_and_back(const TensorMapSpec& from, const TensorMapSpec& to);

/// The tensor of `map` back into its own memory.
TileRoundTrip in_place(const TensorMapSpec& map);

}  // namespace tidemark
