// Bulk copies of plain bytes into shared memory.
#include "suite/case.hpp"
#include "suite/conformance/bulk.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark {
namespace {

// Bulk loads of each type, kind of memory and cache hint.
std::vector<Op> memory_rows(const RunContext&) {
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

const Register kMemory{{
    .name = "load.bulk.memory",
    .claim = "a bulk load moves bytes as they are, whatever their type, the kind of global memory "
             "and the cache hint",
    .cites = "PTX ISA 9.0, 9.7.9.25.4.1 cp.async.bulk; 9.7.9.16 createpolicy",
    .rows = memory_rows,
}};

// Legal bulk loads drawn at random over all that they can vary.
std::vector<Op> random_rows(const RunContext& context) {
  return drawn_rows(context, {32, 1000, 4000}, random_bulk_load);
}

const Register kRandom{{
    .name = "load.bulk.random",
    .claim = "any legal bulk load does what the documents say, however its features meet",
    .cites = "PTX ISA 9.0, 9.7.9.25.4.1 cp.async.bulk",
    .rows = random_rows,
}};

// Bulk loads of every size class, from and to every address on 16 bytes.
std::vector<Op> sizes_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const std::uint32_t bytes : {16U, 32U, 48U, 112U, 128U, 144U, 1008U, 4096U, 4112U, 65552U})
    rows.emplace_back(bulk_load(DataType::u8, bytes, 0));
  for (std::uint32_t step = 1; step < 8; ++step) {
    TileLoad from = bulk_load(DataType::u32, 272, 16 * step);
    rows.emplace_back(from);
    TileLoad to = bulk_load(DataType::u16, 272, 16);
    to.destination_offset = 16 * step;
    rows.emplace_back(to);
    to.destination_offset = 1024 - 16 * step;
    rows.emplace_back(to);
  }
  constexpr std::uint32_t kMost = 223 * 1024;  // a CTA has 227 KiB, less guards and state
  rows.emplace_back(bulk_load(DataType::u64, kMost, 32));
  return rows;
}

const Register kSizes{{
    .name = "load.bulk.sizes",
    .claim = "a bulk load brings so many consecutive bytes, any multiple of 16, from and to any "
             "address on 16, credits them once and touches nothing else",
    .cites = "PTX ISA 9.0, 9.7.9.25.4.1 cp.async.bulk",
    .rows = sizes_rows,
}};

}  // namespace
}  // namespace tidemark
