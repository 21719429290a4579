// Legal reductions by im2col maps, of every type and operation that there is.
#include "suite/case.hpp"
#include "suite/conformance/im2col.hpp"
#include "suite/conformance/reduce.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext& context) {
  constexpr std::uint32_t kRows[] = {1, 20, 80};  // of each, by level
  const std::uint32_t count = kRows[static_cast<std::size_t>(context.level)];
  std::vector<Op> rows;
  std::uint64_t drawn = context.seed;
  for (const ReducedType& one : reduced_types())
    for (std::uint32_t i = 0; i < count; ++i) {
      TileStore store;
      do store = random_im2col_store(drawn = splitmix64(drawn));
      while (store.map.type != one.type);
      store.reduction = one.reduction;
      store.destination = MemorySource::device;
      rows.emplace_back(store);
    }
  return rows;
}

const Register kCase{{
    .name = "reduce.im2col.random",
    .claim = "a reduction by an im2col map reduces the pixels that a store would write, of every "
             "type and operation that there is, and nothing else",
    .cites = "PTX ISA 9.0, 5.5.4 im2col mode, 9.7.9.25.5.3 cp.reduce.async.bulk.tensor, "
             ".im2col_no_offs",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
