// Mismatches drawn at random over box, amount, barrier, arrival, order and parity; more of them at
// the higher levels.
#include "suite/case.hpp"
#include "suite/conformance/mismatch.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

// How many bytes are announced each time for a box of `bytes`.
std::uint32_t random_amount(std::uint32_t bytes, std::uint64_t draw) {
  const auto within = static_cast<std::uint32_t>((draw >> 8) % bytes);
  switch (draw % 6) {
    case 0:
      return bytes;
    case 1:
      return bytes + 1 + within;
    case 2:
      return within / 16 * 16;
    case 3:
      return bytes / 2;
    case 4:
      return 0;
    default:
      return within;
  }
}

ExpectTx random_mismatch(std::uint64_t seed) {
  const TileLoad load = random_tile(splitmix64(seed));
  const std::uint64_t draw = splitmix64(seed + 1);
  ExpectTx op = announce(load, random_amount(tile_bytes(load.map), splitmix64(seed + 2)));
  op.on = static_cast<AnnouncedOn>(draw % 3);
  op.arrival = static_cast<Arrival>((draw >> 8) % 4);
  op.order = static_cast<IssueOrder>((draw >> 16) % 3);
  op.announcements = 1 + static_cast<std::uint32_t>((draw >> 24) % 2);
  op.parity = (draw >> 32) % 4 == 0 ? 1 : 0;
  return op;
}

std::vector<Op> rows(const RunContext& context) {
  constexpr std::uint32_t kRows[] = {96, 600, 2400};  // by level
  const std::uint32_t count = kRows[static_cast<std::size_t>(context.level)];
  std::vector<Op> rows;
  for (std::uint32_t i = 0; i < count; ++i)
    rows.emplace_back(random_mismatch(splitmix64(context.seed + i)));
  return rows;
}

const Register kCase{{
    .name = "expect_tx.random",
    .claim = "whatever is announced on whichever barrier in whatever order, each barrier owes "
             "what was announced on it less what came, and can be brought back",
    .cites = "PTX ISA 9.0, 9.7.13.15 mbarrier; 9.7.9.25.5.2 cp.async.bulk.tensor, complete-tx",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
