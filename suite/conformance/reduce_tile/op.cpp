// Every reduction of every type that has it, on a whole box and over the far end of the tensor.
#include "suite/case.hpp"
#include "suite/conformance/reduce.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const ReducedType& reduced : reduced_types())
    for (const std::uint32_t rank : {1U, 2U, 3U})
      for (const std::int32_t overhang : {0, 1}) {
        TileStore store = over_far_end(reduced.type, rank, (1U << rank) - 1, overhang);
        store.reduction = reduced.reduction;
        store.stores = 2;
        rows.emplace_back(store);
      }
  return rows;
}

const Register kCase{{
    .name = "reduce.tile.op",
    .claim = "each element of the box inside the tensor is combined with the one in memory by the "
             "reduction of its type, and nothing else is written",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.3 cp.reduce.async.bulk.tensor; 9.7.13.5 red; of "
             "floating-point elements, rounding, NaN and zeros: 9.7.4 add, min, max",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
