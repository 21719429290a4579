// Bulk loads to several blocks at once: masks, issuers, slices, hints.
#include "suite/conformance/bulk.hpp"
#include "suite/case.hpp"
#include "suite/conformance/multicast_row.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (std::uint32_t mask = 1; mask < 16; ++mask) {
    TileLoad load = bulk_load(DataType::u32, 16 * (3 + mask), 16 * (mask % 5));
    load.destination_offset = 16 * mask;
    load.hint = static_cast<CacheHint>(mask % 4);
    rows.emplace_back(multicast(load, 4, mask, mask % 4));
  }
  for (const std::uint32_t slices : {2U, 4U, 8U})
    for (const bool late : {false, true}) {
      MulticastLoad sliced = multicast(bulk_load(DataType::u16, 3072, 32), 8, 0xb5, 3);
      sliced.slices = slices;
      sliced.late_arm = late;
      rows.emplace_back(sliced);
    }
  return rows;
}

const Register kCase{{
    .name = "multicast.bulk",
    .claim =
        "every block of the mask gets the same bytes at the same place, and their credit on its "
        "own barrier; no other block gets anything",
    .cites = "PTX ISA 9.0, 9.7.9.25.4.1 cp.async.bulk, .multicast::cluster",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
