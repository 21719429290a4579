// Which warp reads of a tile make sense at all; asked by every device before it runs one.
#pragma once

#include "kernels/ops/tile_read.hpp"

namespace tidemark::kernels {

/// Throws Error unless the tile is of the shape that TileRead describes and every lane's chunk lies
/// in it.
void require_readable(const TileRead& read);

}  // namespace tidemark::kernels
