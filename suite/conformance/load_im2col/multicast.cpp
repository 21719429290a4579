// Im2col loads that are multicast.
#include "suite/case.hpp"
#include "suite/conformance/im2col.hpp"
#include "suite/conformance/multicast_row.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext& context) {
  constexpr std::uint32_t kRows[] = {32, 500, 2000};  // by level
  const std::uint32_t count = kRows[static_cast<std::size_t>(context.level)];
  std::vector<Op> rows;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t seed = splitmix64(context.seed + i);
    Draws draws(~seed);
    const std::uint32_t size = 1U << draws.between(1, 3);
    rows.emplace_back(multicast(random_im2col(seed), size, draws.between(1, (1U << size) - 1),
                                draws.below(size)));
  }
  return rows;
}

const Register kCase{{
    .name = "load.im2col.multicast",
    .claim = "an im2col load reaches every CTA of its mask and no other, and credits each in full, "
             "with and without a cache hint",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor, .im2col and .multicast::cluster",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
