// Sources that are not in L2 when the copy begins, from one sector to boxes of many lines.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  const auto add = [&](TileLoad load) {
    load.cold = true;
    rows.emplace_back(load);
  };
  for (const auto promotion : {L2Promotion::none, L2Promotion::b256})
    for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank)
      for (const DataType type : kTypeOfEachSize) {
        TileLoad load = tile_of_rank(type, rank);
        load.map.l2_promotion = promotion;
        add(load);
        add(in_corner(load, (1U << rank) - 1, 1));
      }
  TileLoad large = tile(DataType::bf16, {2048, 160}, {64, 128}, {512, 17});
  large.map.swizzle = Swizzle::b128;
  for (const CacheHint hint :
       {CacheHint::none, CacheHint::evict_normal, CacheHint::evict_first, CacheHint::evict_last}) {
    large.hint = hint;
    add(large);
  }
  return rows;
}

const Register kCase{{
    .name = "load.tile.cold",
    .claim = "what a box brings is what memory holds, also where none of it is in L2",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor; 5.5.3 tiled mode",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
