// What ordinary accesses of threads make of a tile.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/ops/program/program.hpp"
#include "suite/room.hpp"

namespace tidemark::suite {

/// Adds to each element of the tile what Verb::add adds. Throws Error where a sum in f32 would be
/// rounded.
void add_to_tile(const TileLoad& tile, const Step& add, std::vector<std::uint8_t>& window);

}  // namespace tidemark::suite
