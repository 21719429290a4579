// Commits with nothing to commit: in front of the stores, between them and behind the last, small
// tiles and tiles that take long enough to be caught on their way.
#include "suite/case.hpp"
#include "suite/conformance/store.hpp"

namespace tidemark::suite {
namespace {

TileStore slow(std::uint32_t stores) {
  TileStore store = store_of(tile(DataType::u8, {272, stores * 16}, {256, 16}, {16, 0}));
  store.stores = stores;
  return store;
}

TileStore small(std::uint32_t stores) {
  TileStore store = store_of(tile(DataType::u32, {24, 3, stores + 1}, {16, 2, 1}, {4, 1, 0}));
  store.stores = stores;
  return store;
}

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const StoreWait wait : {StoreWait::complete, StoreWait::read})
    for (std::uint32_t stores = 1; stores <= kMaxStores; ++stores) {
      const std::uint32_t everywhere = (2U << stores) - 1, behind_last = 1U << stores;
      for (const std::uint32_t empty : {1U, behind_last, everywhere - 1, everywhere})
        for (TileStore store : {slow(stores), small(stores)}) {
          if (stores == 1 && empty == everywhere - 1) continue;  // the same as behind the last
          store.empty_groups = empty;
          store.wait = wait;
          rows.emplace_back(store);
        }
    }
  return rows;
}

const Register kCase{{
    .name = "store.tile.empty_group",
    .claim = "a commit with no store before it makes an empty group, which waits count like any "
             "other and never wait for",
    .cites = "PTX ISA 9.0, cp.async.bulk.commit_group and cp.async.bulk.wait_group",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
