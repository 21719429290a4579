// Bulk stores of every size class, from and to every address on 16 bytes.
#include "suite/case.hpp"
#include "suite/conformance/bulk.hpp"
#include "suite/conformance/store.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const std::uint32_t bytes : {16U, 32U, 48U, 112U, 128U, 144U, 1008U, 4096U, 4112U, 65552U})
    rows.emplace_back(store_of(bulk_load(DataType::u8, bytes, 0)));
  for (std::uint32_t step = 1; step < 8; ++step) {
    rows.emplace_back(store_of(bulk_load(DataType::u32, 272, 16 * step)));
    TileLoad from = bulk_load(DataType::u16, 272, 16);
    from.destination_offset = 16 * step;
    rows.emplace_back(store_of(from));
  }
  for (const CacheHint hint :
       {CacheHint::evict_normal, CacheHint::evict_first, CacheHint::evict_last})
    for (const MemorySource destination :
         {MemorySource::async, MemorySource::pinned, MemorySource::mapped}) {
      TileStore store = store_of(bulk_load(DataType::u64, 1040, 32));
      store.hint = hint;
      store.destination = destination;
      rows.emplace_back(store);
    }
  return rows;
}

const Register kCase{{
    .name = "store.bulk.sizes",
    .claim = "a bulk store writes so many consecutive bytes, any multiple of 16, from and to any "
             "address on 16, and nothing else",
    .cites = "PTX ISA 9.0, 9.7.9.25.4.1 cp.async.bulk",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
