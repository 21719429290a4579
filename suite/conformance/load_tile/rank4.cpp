// A box inside a tensor of 4 dimensions, at every inner corner and off them, for each element
// size.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : kTypeOfEachSize) {
    const TileLoad load = tile_of_rank(type, 4);
    rows.emplace_back(load);
    for (std::uint32_t corner = 0; corner < 1U << 4; ++corner)
      rows.emplace_back(in_corner(load, corner, 0));
  }
  return rows;
}

const Register kCase{{
    .name = "load.tile.rank4",
    .claim = "a box inside a tensor of rank 4 arrives element by element, dimension 0 fastest, "
             "and credits its bytes once",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor; 5.5.3 tiled mode",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
