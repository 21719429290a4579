// Legal bulk stores and reductions drawn at random over all that they can vary.
#include "suite/case.hpp"
#include "suite/conformance/bulk.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext& context) {
  constexpr std::uint32_t kRows[] = {32, 1000, 4000};  // by level
  const std::uint32_t count = kRows[static_cast<std::size_t>(context.level)];
  std::vector<Op> rows;
  for (std::uint32_t i = 0; i < count; ++i)
    rows.emplace_back(random_bulk_store(splitmix64(context.seed + i)));
  return rows;
}

const Register kCase{{
    .name = "store.bulk.random",
    .claim = "any legal bulk store or bulk reduction does what the documents say, however its "
             "features meet",
    .cites = "PTX ISA 9.0, 9.7.9.25.4.1 cp.async.bulk; 9.7.9.25.4.2 cp.reduce.async.bulk",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
