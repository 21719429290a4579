// A box that hangs over the far end of any set of dimensions, by one step, by two, and by all but
// one.
#include "suite/case.hpp"
#include "suite/conformance/store.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext& context) {
  std::vector<Op> rows;
  for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank)
    for (std::uint32_t dimensions = 1; dimensions < 1U << rank; ++dimensions)
      for (std::uint32_t size = 0; size < kTypeOfEachSize.size(); ++size) {
        // Quick runs take two of the four element sizes in turn, nightly ones all.
        if (context.level == Level::quick && (dimensions + rank + size) % 2 == 1) continue;
        rows.emplace_back(over_far_end(kTypeOfEachSize[size], rank, dimensions, 1));
      }
  for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank)
    for (std::uint32_t i = 0; i < rank; ++i) {
      const DataType type = kTypeOfEachSize[(rank + i) % kTypeOfEachSize.size()];
      const TileLoad box = tile_of_rank(type, rank);
      const std::int32_t steps = static_cast<std::int32_t>(box.map.box[i]) / step_of(box, i);
      for (std::int32_t overhang = 2; overhang < steps; ++overhang)
        rows.emplace_back(over_far_end(type, rank, 1U << i, overhang));
    }
  return rows;
}

const Register kCase{{
    .name = "store.tile.far_end",
    .claim = "of a box that hangs over the far end of a tensor exactly what is inside gets stored",
    .cites = "PTX ISA 9.0, 5.5.3.3 out-of-boundary access",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
