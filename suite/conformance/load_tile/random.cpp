// Legal loads drawn at random over rank, type, layout, swizzle, fill, strides and place; more of
// them at the higher levels.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext& context) {
  constexpr std::uint32_t kRows[] = {64, 16000, 64000};  // by level
  const std::uint32_t count = kRows[static_cast<std::size_t>(context.level)];
  std::vector<Op> rows;
  for (std::uint32_t i = 0; i < count; ++i)
    rows.emplace_back(random_tile(splitmix64(context.seed + i)));
  return rows;
}

const Register kCase{{
    .name = "load.tile.random",
    .claim = "any legal tile load does what the documents say, however its features meet",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor; CUDA Driver API, "
             "cuTensorMapEncodeTiled",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
