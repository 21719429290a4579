// Every bulk reduction of every type that has it, once and several into the same elements.
#include "suite/case.hpp"
#include "suite/conformance/bulk.hpp"
#include "suite/conformance/store.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (std::uint32_t i = 0; i < kReductions; ++i)
    for (std::uint32_t type = 0; type < kDataTypes; ++type) {
      const auto reduction = static_cast<Reduction>(i);
      const auto element = static_cast<DataType>(type);
      if (!reduces_in_bulk(reduction, element)) continue;
      TileLoad load = bulk_load(element, 528, 16);
      load.destination_offset = 16;
      TileStore store = store_of(load);
      store.reduction = reduction;
      rows.emplace_back(store);
      if (!commutes(reduction, element)) continue;
      store.stores = kMaxStores;
      store.one_box = true;
      rows.emplace_back(store);
    }
  return rows;
}

const Register kCase{{
    .name = "reduce.bulk.op",
    .claim = "each of so many consecutive elements is combined with the one in memory by the "
             "reduction of its type, atomically, and nothing else is written",
    .cites =
        "PTX ISA 9.0, 9.7.9.25.4.2 cp.reduce.async.bulk; of floating-point elements, rounding, NaN "
        "and zeros: 9.7.4 add, min, max",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
