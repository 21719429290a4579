// Corners that differ along W, H and D: in which order cuTensorMapEncodeIm2col takes them. cuda.h
// writes {D, H, W}, CUTLASS passes {W, H, D}.
#include <algorithm>

#include "suite/case.hpp"
#include "suite/conformance/im2col.hpp"

namespace tidemark::suite {
namespace {

using Corners = std::array<std::int32_t, kMaxSpatial>;

TileLoad cornered(const std::vector<std::uint64_t>& extent, const Corners& lower,
                  const Corners& upper) {
  TileLoad load = im2col_load(DataType::u16, extent, 16, 150);
  const std::int32_t first = std::max({lower[0], lower[1], lower[2]});  // in either box
  load = with_corners(load, first, 0);
  load.map.lower_corner = lower;
  load.map.upper_corner = upper;
  load.held_to = HeldTo::measurement;
  return load;
}

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const std::uint32_t offset : {0U, 2U}) {
    rows.emplace_back(with_offset(cornered({24, 9, 7, 3}, {-1, 0}, {0, -2}), offset));
    rows.emplace_back(with_offset(cornered({24, 9, 7, 3}, {-2, 0}, {0, 0}), offset));
    rows.emplace_back(with_offset(cornered({24, 9, 7, 3}, {0, 0}, {-3, 1}), offset));
    rows.emplace_back(with_offset(cornered({24, 5, 6, 7, 2}, {-1, 0, 1}, {0, 0, 0}), offset));
    rows.emplace_back(with_offset(cornered({24, 5, 6, 7, 2}, {0, 0, 0}, {-2, 0, 1}), offset));
    rows.emplace_back(with_offset(cornered({24, 5, 6, 7, 2}, {-1, -1, 0}, {-1, 1, 1}), offset));
  }
  return rows;
}

const Register kCase{{
    .name = "behaviour.load.im2col_corners",
    .claim = "an im2col load by a map whose corners differ along W, H and D takes them in this "
             "order",
    .cites = "measured on an H100, driver 580.159.04; CUTLASS, copy_traits_sm90_im2col.hpp: {W, H, "
             "D}; CUDA Driver API, cuTensorMapEncodeIm2col, pixelBoxLowerCorner: {D, H, W}",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
