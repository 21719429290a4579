// The shared tile of each group is overwritten as soon as wait_group.read returns.
#include "suite/case.hpp"
#include "suite/conformance/store.hpp"

namespace tidemark::suite {
namespace {

TileStore reused(TileLoad box, std::uint32_t stores) {
  TileStore store = store_of(box);
  store.stores = stores;
  store.wait = StoreWait::read;
  return store;
}

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (std::uint32_t stores = 1; stores <= kMaxStores; ++stores) {
    for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank)
      for (const DataType type : kTypeOfEachSize) {
        TileLoad box = tile_of_rank(type, rank);
        box.at[rank - 1] = 0;
        rows.emplace_back(reused(box, stores));
      }
    for (const Swizzle swizzle : {Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128}) {
      const std::uint32_t inner = swizzle == Swizzle::none ? 256 : swizzle_bytes(swizzle);
      const std::uint32_t height = 4096 / inner;
      TileLoad box = tile(DataType::u8, {inner, stores * height + 1}, {inner, height}, {0, 1});
      box.map.swizzle = swizzle;
      rows.emplace_back(reused(box, stores));
    }
  }
  return rows;
}

const Register kCase{{
    .name = "store.tile.read_reuse",
    .claim = "once wait_group.read has returned, the shared tile can be overwritten and what was "
             "in it before is what gets stored",
    .cites = "PTX ISA 9.0, cp.async.bulk.wait_group, .read",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
