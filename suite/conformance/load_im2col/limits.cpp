// The most and the fewest pixels and channels, and corners and offsets as far as each rank goes.
#include "suite/case.hpp"
#include "suite/conformance/im2col.hpp"

namespace tidemark::suite {
namespace {

// A tensor whose images are longer than the corners of its rank reach.
TileLoad long_images(std::uint32_t rank, std::uint32_t pixels) {
  const std::vector<std::uint64_t> of3{16, 33'000, 1}, of4{16, 150, 140, 1}, of5{16, 20, 19, 18, 1};
  return im2col_load(DataType::u8, rank == 3 ? of3 : rank == 4 ? of4 : of5, 16, pixels);
}

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (std::uint32_t rank = 3; rank <= kMaxRank; ++rank) {
    const std::int32_t lowest = lowest_corner(rank), highest = highest_corner(rank);
    for (const std::uint32_t pixels : {1U, 1023U, 1024U})
      rows.emplace_back(long_images(rank, pixels));
    const TileLoad load = long_images(rank, 90);
    const std::uint32_t to_image = highest_offset(rank) / 2 + 1;
    rows.emplace_back(with_offset(with_corners(load, lowest, highest), to_image));
    rows.emplace_back(with_offset(with_corners(load, lowest, lowest + 1), to_image - 3));
    rows.emplace_back(with_corners(load, highest, 0));
    rows.emplace_back(with_corners(load, 0, lowest));
    for (std::uint32_t less = 0; less < 3; ++less)
      rows.emplace_back(with_offset(with_corners(load, lowest, 0), highest_offset(rank) - less));
    rows.emplace_back(with_offset(load, highest_offset(rank)));
  }
  rows.emplace_back(im2col_load(DataType::u8, {272, 5, 4, 2}, 256, 40));
  rows.emplace_back(im2col_load(DataType::u16, {272, 5, 4, 2}, 256, 40));
  TileLoad beyond = im2col_load(DataType::u8, {48, 5, 4, 2}, 48, 64);  // 24 behind the last mapped
  beyond.source = MemorySource::edge;
  rows.emplace_back(beyond);
  return rows;
}

const Register kCase{{
    .name = "load.im2col.limits",
    .claim = "columns of 1 to 1024 pixels of up to 256 channels, and corners and offsets up to the "
             "limits of their rank, are loaded as any other",
    .cites = "CUDA Driver API, cuTensorMapEncodeIm2col, pixelBoxLowerCorner, pixelBoxUpperCorner, "
             "channelsPerPixel, pixelsPerColumn; PTX ISA 9.0, 5.5.4.1",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
