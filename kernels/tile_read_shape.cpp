// Checks the shape of a warp's read.
#include "kernels/tile_read_shape.hpp"

#include <fmt/format.h>

#include "kernels/error.hpp"

namespace tidemark::kernels {

void require_readable(const TileRead& read) {
  const TensorMapSpec& map = read.load.map;
  const std::uint32_t rows = map.box[1], row_bytes = group_row_bytes(read);
  if (map.rank != 3 || (rows != 8 && rows != 16 && rows != 32) || row_bytes % kReadBytes != 0 ||
      row_bytes > 128)
    throw Error(fmt::format(
        "tile read: a box of rank {} with {} rows of {} bytes; take rank 3, 8, 16 or 32 rows and "
        "16 to 128 bytes",
        map.rank, rows, row_bytes));
  for (std::uint32_t i = 1; i < 3; ++i)
    if (map.element_stride[i] != 1)
      throw Error(fmt::format("tile read: element stride {} in dimension {}; take 1",
                              map.element_stride[i], i));
  const std::uint32_t columns = row_bytes / kReadBytes * map.box[2];
  const std::uint32_t last = chunk_of_lane(read, kWarpLanes - 1).column;
  if (last >= columns)
    throw Error(
        fmt::format("tile read: lane 31 reads column {} of {}; start further left", last, columns));
}

}  // namespace tidemark::kernels
