// Coordinates near the end of 32 bits, and ones that land inside the tensor if their upper bits are
// lost.
#include "suite/case.hpp"
#include "suite/conformance/store.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  constexpr std::int32_t kLast = 0x7fffffff;
  std::vector<Op> rows;
  for (const DataType type : {DataType::u8, DataType::f64})
    for (const std::uint32_t rank : {1U, 2U, 3U, 5U})
      for (std::uint32_t i = 0; i < rank; ++i) {
        const TileStore store = store_of(tile_of_rank(type, rank));
        const std::int32_t step = i == 0 ? inner_step(type) : 1;
        // The end of the first box is past 2^31; the low 8, 16 or 24 bits of the others alone would
        // be a place inside.
        for (const std::int32_t to :
             {kLast - kLast % step, 0x100 + step, 0x10000 + step, 0x1000000 + step}) {
          TileStore outside = store;
          outside.at[i] = to;
          rows.emplace_back(outside);
        }
      }
  rows.emplace_back(over_far_end(DataType::u8, 2, 3, 1));
  return rows;
}

const Register kCase{{
    .name = "store.tile.int32_limits",
    .claim = "coordinates of stores keep all 31 bits: a box near the limit of int32 does not fall "
             "back into the tensor",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor, tensorCoords; 5.5.3.3",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
