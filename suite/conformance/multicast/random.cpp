// Multicasts drawn at random over box, cluster, mask, issuer, slices and order; more of them at the
// higher levels.
#include "suite/case.hpp"
#include "suite/conformance/multicast_row.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext& context) {
  constexpr std::uint32_t kRows[] = {96, 600, 3000};  // by level
  const std::uint32_t count = kRows[static_cast<std::size_t>(context.level)];
  std::vector<Op> rows;
  for (std::uint32_t i = 0; i < count; ++i)
    rows.emplace_back(random_multicast(splitmix64(context.seed + i)));
  return rows;
}

const Register kCase{{
    .name = "multicast.random",
    .claim = "any legal multicast does what the documents say, however its features meet",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor, .multicast::cluster",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
