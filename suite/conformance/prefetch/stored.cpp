// Boxes that are stored over between their prefetch and their load.
#include "suite/case.hpp"
#include "suite/conformance/bulk.hpp"
#include "suite/conformance/prefetch.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : kTypeOfEachSize)
    for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank) {
      TileLoad load = tile_of_rank(type, rank);
      load.destination_offset = 128;
      rows.emplace_back(restored(load));
      load.hint = CacheHint::evict_first;
      load.cold = true;
      rows.emplace_back(restored(load));
    }
  for (const std::uint32_t bytes : {16U, 4112U})
    rows.emplace_back(restored(bulk_load(DataType::u32, bytes, 48)));
  return rows;
}

const Register kCase{{
    .name = "prefetch.stored",
    .claim = "what was stored after a prefetch is what a load brings",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.4 cp.async.bulk.prefetch.tensor; 9.7.9.25.3.2 "
             "cp.async.bulk.wait_group",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
