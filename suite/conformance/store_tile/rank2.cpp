// A box into a tensor of 2 dimensions, at every inner corner and off them, for each element size.
#include "suite/case.hpp"
#include "suite/conformance/store.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : kTypeOfEachSize) {
    const TileLoad box = tile_of_rank(type, 2);
    rows.emplace_back(store_of(box));
    for (std::uint32_t corner = 0; corner < 1U << 2; ++corner)
      rows.emplace_back(store_of(in_corner(box, corner, 0)));
  }
  return rows;
}

const Register kCase{{
    .name = "store.tile.rank2",
    .claim = "a box stored into a tensor of rank 2 lands element by element, dimension 0 fastest, "
             "and touches nothing else",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor; 5.5.3 tiled mode",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
