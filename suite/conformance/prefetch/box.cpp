// Prefetches of boxes inside, across the sides and wholly outside of tensors of every rank.
#include "suite/case.hpp"
#include "suite/conformance/bulk.hpp"
#include "suite/conformance/prefetch.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  constexpr std::int32_t kFar = 300;  // steps, more than any extent
  std::vector<Op> rows;
  for (const DataType type : kTypeOfEachSize)
    for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank) {
      const TileLoad inside = tile_of_rank(type, rank);
      const TileLoad across = in_corner(inside, 0, 1), far = in_corner(inside, 0, kFar);
      const std::uint32_t last = (1U << rank) - 1;
      rows.emplace_back(prefetched(inside, {inside.at}));
      rows.emplace_back(prefetched(across, {across.at, in_corner(inside, last, 1).at}));
      rows.emplace_back(prefetched(far, {far.at, in_corner(inside, last, kFar).at}));
      rows.emplace_back(prefetched(inside, {across.at, far.at, inside.at, inside.at}));
    }
  for (const std::uint32_t bytes : {16U, 4112U, 65552U}) {
    const TileLoad load = bulk_load(DataType::u32, bytes, 48);
    rows.emplace_back(prefetched(load, {{0}, load.at}));
  }
  return rows;
}

const Register kCase{{
    .name = "prefetch.box",
    .claim = "a prefetch of any box, inside its tensor or not, changes no byte, credits no barrier "
             "and is no error, and a load of the box then does what it does without",
    .cites = "PTX ISA 9.0, 9.7.9.25.4.3 cp.async.bulk.prefetch; 9.7.9.25.5.4 "
             "cp.async.bulk.prefetch.tensor",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
