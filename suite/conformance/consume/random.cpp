// Products drawn at random over type, layout of each operand, width, depth, place in the matrices
// and in shared memory; more of them at the higher levels.
#include "suite/case.hpp"
#include "suite/conformance/consumed_tile.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext& context) {
  constexpr std::uint32_t kRows[] = {48, 600, 3000};  // by level
  const std::uint32_t count = kRows[static_cast<std::size_t>(context.level)];
  std::vector<Op> rows;
  for (std::uint32_t i = 0; i < count; ++i)
    rows.emplace_back(random_consumed(splitmix64(context.seed + i)));
  return rows;
}

const Register kCase{{
    .name = "consume.random",
    .claim = "any tiles that TMA can write and wgmma can read give the exact product, however "
             "their features meet",
    .cites = "PTX ISA 9.0, 9.7.15.5.2 wgmma.mma_async, 9.7.9.25.5.2 cp.async.bulk.tensor",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
