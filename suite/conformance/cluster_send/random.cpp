// Sends drawn at random, some of which are sent on.
#include "suite/case.hpp"
#include "suite/conformance/send.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext& context) {
  constexpr std::uint32_t kRows[] = {32, 1000, 4000};  // by level
  const std::uint32_t count = kRows[static_cast<std::size_t>(context.level)];
  std::vector<Op> rows;
  for (std::uint32_t i = 0; i < count; ++i)
    rows.emplace_back(program_of(random_sends(splitmix64(context.seed + i))));
  return rows;
}

const Register kCase{{
    .name = "cluster.send.random",
    .claim =
        "what several CTAs send to one lands whole, and may be sent on by the CTA that saw the "
        "phase of its barrier complete",
    .cites = "PTX ISA 9.0, 9.7.9.25.4.1 cp.async.bulk.shared::cluster.shared::cta",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
