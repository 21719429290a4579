// Boxes of every rank stored under every cache hint.
#include "suite/case.hpp"
#include "suite/conformance/store.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const CacheHint hint :
       {CacheHint::none, CacheHint::evict_normal, CacheHint::evict_first, CacheHint::evict_last})
    for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank)
      for (const DataType type : kTypeOfEachSize) {
        TileStore store = over_far_end(type, rank, (1U << rank) - 1, rank % 2 == 0 ? 1 : 0);
        store.hint = hint;
        rows.emplace_back(store);
        store.at.fill(0);
        store.stores = 2;
        store.wait = StoreWait::read;
        rows.emplace_back(store);
      }
  return rows;
}

const Register kCase{{
    .name = "store.tile.cache_hint",
    .claim = "a cache policy on the instruction is a performance hint: under each of them the same "
             "bytes are stored, and the same waits hold",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor, .level::cache_hint; 9.7.9.16 "
             "createpolicy",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
