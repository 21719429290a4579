// Masks of a cluster of eight blocks: one, two and all but one block, halves and alternations with
// the issuers in turn; nightly, every mask from every issuer.
#include <bit>

#include "suite/case.hpp"
#include "suite/conformance/multicast_row.hpp"

namespace tidemark::suite {
namespace {

constexpr std::uint32_t kSize = 8;

bool is_quick(std::uint32_t mask) {
  const int blocks = std::popcount(mask);
  return blocks <= 2 || blocks >= 7 || mask == 0x0f || mask == 0xf0 || mask == 0x55 || mask == 0xaa;
}

std::vector<Op> rows(const RunContext& context) {
  if (context.level != Level::quick) return all_masks_and_issuers(kSize);
  std::vector<Op> rows;
  for (std::uint32_t mask = 1; mask < 1U << kSize; ++mask) {
    if (!is_quick(mask)) continue;
    const auto turn = static_cast<std::uint32_t>(rows.size());
    rows.emplace_back(multicast(small_box(), kSize, mask, turn % kSize));
    rows.emplace_back(multicast(small_box(), kSize, mask, (turn + 3) % kSize));
  }
  return rows;
}

const Register kCase{{
    .name = "multicast.mask8",
    .claim = "in a cluster of eight blocks, the largest portable one, a multicast serves the "
             "blocks of its mask and no other",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor, .multicast::cluster and ctaMask",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
