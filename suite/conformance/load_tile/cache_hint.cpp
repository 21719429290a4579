// The same boxes under every cache hint, beside every promotion of the L2 fetch.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const CacheHint hint :
       {CacheHint::none, CacheHint::evict_normal, CacheHint::evict_first, CacheHint::evict_last}) {
    for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank)
      for (const DataType type : kTypeOfEachSize) {
        TileLoad load =
            in_corner(tile_of_rank(type, rank), (1U << rank) - 1, rank % 2 == 0 ? 1 : 0);
        load.hint = hint;
        rows.emplace_back(load);
      }
    for (const auto promotion :
         {L2Promotion::none, L2Promotion::b64, L2Promotion::b128, L2Promotion::b256}) {
      TileLoad load = tile(DataType::f32, {96, 23}, {32, 17}, {32, 3});
      load.map.swizzle = Swizzle::b128;
      load.map.l2_promotion = promotion;
      load.hint = hint;
      rows.emplace_back(load);
    }
  }
  return rows;
}

const Register kCase{{
    .name = "load.tile.cache_hint",
    .claim = "a cache policy on the instruction is a performance hint: under each of them the same "
             "bytes and the same credit arrive",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor, .level::cache_hint; 9.7.9.16 "
             "createpolicy",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
