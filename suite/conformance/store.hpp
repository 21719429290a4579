// Builds tile stores from the layouts of tile loads.
#pragma once

#include <cstdint>

#include "kernels/ops/tile_store.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark {

/// The store that takes the way of `load` back: same map, box and shared offset. A negative
/// coordinate becomes 0.
TileStore store_of(const TileLoad& load);

/// A store whose box hangs over the far end by `overhang` steps along each dimension of
/// `dimensions` (bit i: dimension i), in a tensor of tile_of_rank.
TileStore over_far_end(DataType type, std::uint32_t rank, std::uint32_t dimensions,
                       std::int32_t overhang);

/// A store into 2 or more rows whose inner extent ends `left` elements behind its last whole 16
/// bytes. The box takes the end of each row; the row is held to what was measured.
TileStore ragged_store(DataType type, std::uint32_t rank, std::uint32_t left);

/// A legal store of any rank, type, swizzle, number of groups and wait, starting anywhere from the
/// tensor's first element to just behind its last; a function of `seed` alone.
TileStore random_store(std::uint64_t seed);

}  // namespace tidemark
