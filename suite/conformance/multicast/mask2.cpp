// Every mask and every issuer of a cluster of two blocks, for each element size.
#include "suite/case.hpp"
#include "suite/conformance/multicast_row.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows = all_masks_and_issuers(2);
  for (const DataType type : kTypeOfEachSize)
    for (std::uint32_t mask = 1; mask < 4; ++mask)
      for (std::uint32_t issuer = 0; issuer < 2; ++issuer)
        rows.emplace_back(multicast(tile_of_rank(type, 3), 2, mask, issuer));
  return rows;
}

const Register kCase{{
    .name = "multicast.mask2",
    .claim = "in a cluster of two blocks a multicast serves the blocks of its mask and no other, "
             "whichever block issues it",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor, .multicast::cluster and ctaMask",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
