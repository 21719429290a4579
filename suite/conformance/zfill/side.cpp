// A box that hangs over one side of one dimension, by one step up to all but one.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

// The box with all of its dimensions inside but `i`, which hangs out by `overhang` elements.
TileLoad over_side(TileLoad load, std::uint32_t i, bool high, std::int32_t overhang) {
  load.at[i] = high ? highest_inside(load, i) + overhang : -overhang;
  return load;
}

std::vector<Op> rows(const RunContext& context) {
  std::vector<Op> rows;
  for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank)
    for (std::uint32_t i = 0; i < rank; ++i)
      for (const bool high : {false, true})
        for (std::uint32_t size = 0; size < kTypeOfEachSize.size(); ++size) {
          // Quick runs take two of the four element sizes in turn, nightly ones all.
          const std::uint32_t turn = rank + i + size + (high ? 1 : 0);
          if (context.level == Level::quick && turn % 2 == 1) continue;
          const TileLoad load = tile_of_rank(kTypeOfEachSize[size], rank);
          const auto box = static_cast<std::int32_t>(load.map.box[i]);
          const std::int32_t step = step_of(load, i);
          rows.emplace_back(over_side(load, i, high, step));
          if (box > 2 * step) rows.emplace_back(over_side(load, i, high, box - step));
        }
  return rows;
}

const Register kCase{{
    .name = "zfill.side",
    .claim = "a box over one side of a tensor is zero outside it, unchanged inside, and credits "
             "its full size",
    .cites = "PTX ISA 9.0, 5.5.3.3 out-of-boundary access; CUDA Driver API, "
             "cuTensorMapEncodeTiled, oobFill",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
