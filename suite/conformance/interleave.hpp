// Builds copies by interleaved maps in few words, so that a case file shows only what it varies.
#pragma once

#include <cstdint>
#include <vector>

#include "suite/conformance/tile.hpp"

namespace tidemark {

/// A load within a tensor of rank 3 to 5: W in units, H and D as far as there are, slices of
/// channels, N. The box asks for two slices, and gets one.
TileLoad interleaved_load(DataType type, Interleave interleave, std::uint32_t rank);

/// One of each rank, size of elements and size of units, and of each swizzle.
std::vector<TileLoad> interleaved_loads();

/// Moves the box over the near end of the tensor, or over the far one, along every dimension but
/// that of the slices.
TileLoad over_end(TileLoad load, bool far);

/// The load by a map with element strides along every dimension: that of the slices is ignored.
TileLoad with_element_strides(TileLoad load);

/// The store that takes the way of `load` back, without element strides, held to the measurement.
TileStore interleaved_store(const TileLoad& load);

/// A legal load by an interleaved map of any rank, type, swizzle, fill, element strides, hint and
/// source; a function of `seed` alone.
TileLoad random_interleaved_load(std::uint64_t seed);

/// A legal store by such a map, from 1 to 3 boxes; a function of `seed` alone.
TileStore random_interleaved_store(std::uint64_t seed);

}  // namespace tidemark
