// Atom layouts over a row-major matrix: dimension 2 steps along the row by one group.
#include "suite/conformance/atom_read.hpp"

#include "suite/conformance/tile.hpp"

namespace tidemark {

TileRead atom_read(DataType type, Swizzle swizzle, std::uint32_t row_bytes, std::uint32_t rows,
                   std::uint32_t groups) {
  const std::uint32_t group = swizzle == Swizzle::none ? row_bytes : swizzle_bytes(swizzle);
  const std::uint32_t inner = elements_in(group, type);
  TileLoad load = tile(type, {inner, rows + 5, groups + 1}, {inner, rows, groups}, {0, 3, 1});
  load.map.stride[0] = std::uint64_t{group} * (groups + 1) + 16;  // rows of the matrix, padded
  load.map.stride[1] = group;
  load.map.swizzle = swizzle;
  return {.load = load};
}

}  // namespace tidemark
