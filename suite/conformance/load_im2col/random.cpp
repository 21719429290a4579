// Legal im2col loads drawn at random over all that they can vary.
#include "suite/case.hpp"
#include "suite/conformance/im2col.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext& context) {
  constexpr std::uint32_t kRows[] = {96, 2000, 8000};  // by level
  const std::uint32_t count = kRows[static_cast<std::size_t>(context.level)];
  std::vector<Op> rows;
  for (std::uint32_t i = 0; i < count; ++i)
    rows.emplace_back(random_im2col(splitmix64(context.seed + i)));
  return rows;
}

const Register kCase{{
    .name = "load.im2col.random",
    .claim = "any legal im2col load does what the documents say, however its features meet: pixels "
             "carry from W to H, D and N, and are filled outside of the tensor",
    .cites = "PTX ISA 9.0, 5.5.4 im2col mode, 9.7.9.25.5.2 cp.async.bulk.tensor; CUDA Driver API, "
             "cuTensorMapEncodeIm2col",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
