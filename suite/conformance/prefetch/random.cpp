// Prefetches before loads that are drawn at random over all that they can vary.
#include "suite/case.hpp"
#include "suite/conformance/bulk.hpp"
#include "suite/conformance/im2col.hpp"
#include "suite/conformance/prefetch.hpp"

namespace tidemark::suite {
namespace {

BoxAt near(const TileLoad& load, Draws& draws) {
  BoxAt at = load.at;
  for (std::uint32_t i = 0; i < load.map.rank; ++i)
    at[i] += step_of(load, i) * (static_cast<std::int32_t>(draws.below(9)) - 4);
  return at;
}

std::vector<Op> rows(const RunContext& context) {
  constexpr std::uint32_t kRows[] = {32, 1000, 4000};  // by level
  const std::uint32_t count = kRows[static_cast<std::size_t>(context.level)];
  std::vector<Op> rows;
  for (std::uint32_t i = 0; i < count; ++i) {
    Draws draws(splitmix64(context.seed + i));
    const TileLoad bulk = random_bulk_load(splitmix64(context.seed + i));
    const TileLoad load = random_tile(splitmix64(context.seed + i));
    const TileLoad pixels = random_im2col(splitmix64(context.seed + i));
    const std::uint32_t kind = draws.below(8);
    if (kind == 0)
      rows.emplace_back(prefetched(bulk, {{0}, bulk.at}));
    else if (kind == 1)
      rows.emplace_back(restored(tile_of_rank(DataType::u32, draws.between(1, kMaxRank))));
    else if (kind == 2)
      rows.emplace_back(prefetched(pixels, {pixels.at, pixels.at}));
    else
      rows.emplace_back(prefetched(load, {load.at, near(load, draws)}));
  }
  return rows;
}

const Register kCase{{
    .name = "prefetch.random",
    .claim = "prefetches change nothing of any legal load, however its features meet",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.4 cp.async.bulk.prefetch.tensor",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
