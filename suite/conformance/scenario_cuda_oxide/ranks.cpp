// Loads of one to five dimensions of the article's element type, swizzled as there where they can.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank) {
    rows.emplace_back(tile_of_rank(DataType::f32, rank));
    TileLoad swizzled = tile_of_rank(DataType::f32, rank);
    swizzled.map.box[0] = 32;  // 128 bytes
    swizzled.map.swizzle = Swizzle::b128;
    swizzled.map.l2_promotion = L2Promotion::b128;
    rows.emplace_back(swizzled);
    for (std::uint32_t i = 0; i < rank; ++i) {
      TileLoad over = swizzled;  // hangs over the end of one dimension
      over.at[i] = highest_inside(over, i) + step_of(over, i);
      rows.emplace_back(over);
    }
  }
  return rows;
}

const Register kCase{{
    .name = "scenario.cuda_oxide.ranks",
    .claim = "copies of one to five dimensions move the box of f32 that the descriptor and the "
             "coordinates name, dimension 0 fastest",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 and 5.5.3; cuda-oxide book, Tensor Memory Accelerator, "
             "Global-to-shared copies",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
