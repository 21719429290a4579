// Bulk copies, bulk reductions, st.async and red.async of several CTAs on one barrier.
#include "suite/case.hpp"
#include "suite/conformance/async.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext& context) {
  constexpr std::uint32_t kRows[] = {32, 1000, 4000};  // by level
  const std::uint32_t count = kRows[static_cast<std::size_t>(context.level)];
  std::vector<Op> rows;
  for (std::uint32_t i = 0; i < count; ++i)
    rows.emplace_back(random_async(splitmix64(context.seed + i)));
  return rows;
}

const Register kCase{{
    .name = "async.mixed",
    .claim =
        "bytes that bulk copies, bulk reductions, st.async and red.async credit to one barrier "
        "add up, and its phase completes when all have come",
    .cites = "PTX ISA 9.0, 9.7.13.15.5 tracking asynchronous operations by the mbarrier object",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
