// Every plain element type, in boxes inside and across the end of a tensor.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (std::uint32_t i = 0; i < kDataTypes; ++i) {
    const auto type = static_cast<DataType>(i);
    for (const std::uint32_t rank : {1U, 2U, 3U}) {
      const TileLoad load = tile_of_rank(type, rank);
      rows.emplace_back(load);
      rows.emplace_back(in_corner(load, (1U << rank) - 1, 1));
    }
  }
  return rows;
}

const Register kCase{{
    .name = "load.tile.dtype",
    .claim = "elements of each of the 13 data types arrive bit for bit where no conversion is "
             "due",
    .cites = "CUDA Driver API, cuTensorMapEncodeTiled, tensorDataType",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
