// One to four stores, each a group of its own, waited for one by one from the oldest: from single
// chunks to tiles that take long enough to be caught on their way.
#include "suite/case.hpp"
#include "suite/conformance/store.hpp"

namespace tidemark::suite {
namespace {

TileStore large(std::uint32_t stores, Swizzle swizzle) {
  const std::uint32_t inner = swizzle == Swizzle::none ? 256 : swizzle_bytes(swizzle);
  const std::uint32_t height = 4096 / inner;
  TileLoad box = tile(DataType::u8, {inner + 16, stores * height}, {inner, height}, {16, 0});
  box.map.swizzle = swizzle;
  TileStore store = store_of(box);
  store.stores = stores;
  return store;
}

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (std::uint32_t stores = 1; stores <= kMaxStores; ++stores) {
    for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank)
      for (const DataType type : {DataType::u8, DataType::u64}) {
        TileStore store = store_of(tile_of_rank(type, rank));
        store.stores = stores;  // the boxes of the younger groups soon lie outside
        store.at[rank - 1] = 0;
        rows.emplace_back(store);
      }
    for (const Swizzle swizzle : {Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128})
      rows.emplace_back(large(stores, swizzle));
    TileStore chunks = store_of(tile(DataType::u8, {16, 7}, {16, 1}, {0, 1}));
    chunks.stores = stores;
    rows.emplace_back(chunks);
  }
  return rows;
}

const Register kCase{{
    .name = "store.tile.groups",
    .claim = "wait_group N returns when all but the N youngest groups of stores have completed, "
             "and what those wrote is visible to the waiting thread",
    .cites = "PTX ISA 9.0, cp.async.bulk.wait_group",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
