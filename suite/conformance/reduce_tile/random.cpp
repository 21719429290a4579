// Legal reductions drawn at random over what random stores vary, types and operations.
#include "suite/case.hpp"
#include "suite/conformance/reduce.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext& context) {
  constexpr std::uint32_t kRows[] = {64, 1000, 4000};  // by level
  const std::uint32_t count = kRows[static_cast<std::size_t>(context.level)];
  std::vector<Op> rows;
  for (std::uint32_t i = 0; i < count; ++i)
    rows.emplace_back(random_reduction(splitmix64(context.seed + i)));
  return rows;
}

const Register kCase{{
    .name = "reduce.tile.random",
    .claim = "any legal tile reduction does what the documents say, however its features meet",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.3 cp.reduce.async.bulk.tensor; CUDA Driver API, "
             "cuTensorMapEncodeTiled",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
