// Programs drawn at random: what single families leave apart meets here. More of them at the higher
// levels; `run --level soak --seed S` draws others each time.
#include "suite/case.hpp"
#include "suite/conformance/random_program.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext& context) {
  constexpr std::uint32_t kRows[] = {32, 2000, 20000};  // by level
  const std::uint32_t count = kRows[static_cast<std::size_t>(context.level)];
  std::vector<Op> rows;
  for (std::uint32_t i = 0; i < count; ++i)
    rows.emplace_back(random_program(splitmix64(context.seed + i)));
  return rows;
}

const Register kCase{{
    .name = "program.random",
    .claim = "loads, stores, reductions, barriers and accesses by threads leave what the documents "
             "say of each, in whatever order they meet",
    .cites = "PTX ISA 9.0, 9.7.9.25.5 cp.async.bulk.tensor, 9.7.13.15 mbarrier",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
