// The pixels of an im2col load, one after the other. PTX ISA 9.0, 5.5.4.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/virtual/copies/tile_chunks.hpp"

namespace tidemark {

/// Coordinates of the pixels that `load` brings, whose map is an im2col one; dimension 0 is left to
/// the tile. From one pixel to the next W goes a traversal stride further; behind the end of the
/// bounding box it starts anew and H goes on, then D, then the batch.
std::vector<std::array<std::int64_t, kMaxRank>> im2col_pixels(const TileLoad& load,
                                                              const TileGeometry& tile);

/// Whether a fault has memory read for channel `channel`, which is none of the tensor.
bool takes_channel(const TileGeometry& tile, std::int64_t channel);

}  // namespace tidemark
