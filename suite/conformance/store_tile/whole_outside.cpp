// A box that starts behind the end of one dimension or of all, near and far; with one box that
// keeps a corner inside, for comparison.
#include "suite/case.hpp"
#include "suite/conformance/store.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : {DataType::u16, DataType::f64})
    for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank) {
      const TileStore store = store_of(tile_of_rank(type, rank));
      TileStore all = store;
      for (std::uint32_t i = 0; i < rank; ++i) {
        const auto extent = static_cast<std::int32_t>(store.map.extent[i]);
        const std::int32_t step = i == 0 ? inner_step(type) : 1;
        for (const std::int32_t to : {extent, extent + step, 0x10000 + step, 1 << 30}) {
          TileStore outside = store;
          outside.at[i] = to;
          rows.emplace_back(outside);
        }
        all.at[i] = extent;
      }
      if (rank > 1) rows.emplace_back(all);  // along one dimension, it has been
      rows.emplace_back(over_far_end(type, rank, (1U << rank) - 1, 2));
    }
  return rows;
}

const Register kCase{{
    .name = "store.tile.whole_outside",
    .claim = "a box that starts behind the end of a tensor writes nothing, and its group "
             "completes",
    .cites = "PTX ISA 9.0, 5.5.3.3 out-of-boundary access",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
