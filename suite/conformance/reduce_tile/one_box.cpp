// Four reductions of different tiles into one box, all in flight at once.
#include "suite/case.hpp"
#include "suite/conformance/reduce.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const ReducedType& reduced : reduced_types())
    for (std::uint32_t rank = 1; commutes(reduced.reduction, reduced.type) && rank <= 3; ++rank)
      for (const StoreWait wait : {StoreWait::complete, StoreWait::read}) {
        TileStore store = over_far_end(reduced.type, rank, 0, 0);
        store.reduction = reduced.reduction;
        store.stores = kMaxStores;
        store.one_box = true;
        store.wait = wait;
        rows.emplace_back(store);
      }
  return rows;
}

const Register kCase{{
    .name = "reduce.tile.one_box",
    .claim = "integer reductions of one thread into the same elements are atomic: none is lost, in "
             "whatever "
             "order they come",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.3 cp.reduce.async.bulk.tensor: each reduction operation has "
             ".relaxed.gpu semantics",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
