// NaN fill for each floating type: over each side, over corners, wholly outside and wholly inside.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : kFloatingTypes) {
    TileLoad load = tile_of_rank(type, 3);
    load.map.fill = Fill::nan;
    rows.emplace_back(load);
    for (const std::uint32_t corner : {0U, 3U, 5U, 7U})
      rows.emplace_back(in_corner(load, corner, 1));
    for (std::uint32_t i = 0; i < load.map.rank; ++i)
      for (const bool high : {false, true}) {
        TileLoad over = load;
        over.at[i] = high ? highest_inside(load, i) + step_of(load, i) : -step_of(load, i);
        rows.emplace_back(over);
      }
    TileLoad outside = load;
    outside.at[1] = -static_cast<std::int32_t>(load.map.box[1]);
    rows.emplace_back(outside);
  }
  return rows;
}

const Register kCase{{
    .name = "zfill.nan",
    .claim = "with NaN fill every element outside the tensor is a NaN, and every element inside "
             "is unchanged",
    .cites = "CUDA Driver API, cuTensorMapEncodeTiled, oobFill = NAN_REQUEST_ZERO_FMA",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
