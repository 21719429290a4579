// Builds warp reads of atom layouts in few words.
#pragma once

#include <cstdint>

#include "kernels/ops/tile_consume.hpp"

namespace tidemark {

/// A read of `rows` rows of `groups` groups, a group's row one `swizzle` wide (`row_bytes` without
/// a swizzle), of a row-major matrix that is larger on every side.
TileRead atom_read(DataType type, Swizzle swizzle, std::uint32_t row_bytes, std::uint32_t rows,
                   std::uint32_t groups);

}  // namespace tidemark
