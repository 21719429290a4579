// A box into a tensor of 3 dimensions, at every inner corner and off them, for each element size.
#include "suite/case.hpp"
#include "suite/conformance/store.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : kTypeOfEachSize) {
    const TileLoad box = tile_of_rank(type, 3);
    rows.emplace_back(store_of(box));
    for (std::uint32_t corner = 0; corner < 1U << 3; ++corner)
      rows.emplace_back(store_of(in_corner(box, corner, 0)));
  }
  return rows;
}

const Register kCase{{
    .name = "store.tile.rank3",
    .claim = "a box stored into a tensor of rank 3 lands element by element, dimension 0 fastest, "
             "and touches nothing else",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor; 5.5.3 tiled mode",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
