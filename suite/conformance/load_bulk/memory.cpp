// Bulk loads of each type, kind of memory and cache hint.
#include "suite/case.hpp"
#include "suite/conformance/bulk.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (std::uint32_t i = 0; i < kDataTypes; ++i)
    rows.emplace_back(bulk_load(static_cast<DataType>(i), 208, 48));
  for (const MemorySource source :
       {MemorySource::async, MemorySource::pinned, MemorySource::mapped, MemorySource::edge}) {
    TileLoad load = bulk_load(DataType::u8, 6160, 16);
    load.source = source;
    if (source == MemorySource::edge) load.map.extent[0] -= 48;  // the last mapped byte is loaded
    rows.emplace_back(load);
  }
  for (const CacheHint hint :
       {CacheHint::evict_normal, CacheHint::evict_first, CacheHint::evict_last}) {
    TileLoad load = bulk_load(DataType::s64, 1040, 0);
    load.hint = hint;
    rows.emplace_back(load);
    load.cold = true;
    rows.emplace_back(load);
  }
  return rows;
}

const Register kCase{{
    .name = "load.bulk.memory",
    .claim = "a bulk load moves bytes as they are, whatever their type, the kind of global memory "
             "and the cache hint",
    .cites = "PTX ISA 9.0, 9.7.9.25.4.1 cp.async.bulk; 9.7.9.16 createpolicy",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
