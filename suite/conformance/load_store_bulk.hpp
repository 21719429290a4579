// Builds bulk copies: consecutive elements by their address, without a tensor map.
#pragma once

#include <cstdint>

#include "kernels/ops/tile_store.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark {

/// A load of `bytes` from `first_byte` of a tensor of `type` on, which ends three rows of 16 bytes
/// behind them. Both are whole multiples of 16.
TileLoad bulk_load(DataType type, std::uint32_t bytes, std::uint32_t first_byte);

/// A load or a store of any type, size up to 8 KiB, place in memory and in the window, hint and
/// source or destination, on 16 bytes; a function of `seed` alone. One store in two of a type that
/// has reductions is one.
TileLoad random_bulk_load(std::uint64_t seed);
TileStore random_bulk_store(std::uint64_t seed);

/// Whether there is a bulk reduction whose sums the documents leave no choice.
bool reduces_in_bulk(Reduction reduction, DataType type);

}  // namespace tidemark
