// Legal stores by im2col maps drawn at random over all that they can vary.
#include "suite/case.hpp"
#include "suite/conformance/im2col.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext& context) {
  constexpr std::uint32_t kRows[] = {64, 1000, 4000};  // by level
  const std::uint32_t count = kRows[static_cast<std::size_t>(context.level)];
  std::vector<Op> rows;
  for (std::uint32_t i = 0; i < count; ++i)
    rows.emplace_back(random_im2col_store(splitmix64(context.seed + i)));
  return rows;
}

const Register kCase{{
    .name = "store.im2col.random",
    .claim =
        "a store by an im2col map writes the pixels of its bounding boxes one after the other, "
        "image after image, and nothing else",
    .cites = "PTX ISA 9.0, 5.5.4 im2col mode, 9.7.9.25.5.2 cp.async.bulk.tensor, .im2col_no_offs",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
