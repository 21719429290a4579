// Bulk copies of plain bytes, legal by construction: their builders and their cases.
#include "suite/conformance/load_store_bulk.hpp"

#include "suite/case.hpp"
#include "suite/conformance/load_store_im2col.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark {

TileLoad bulk_load(DataType type, std::uint32_t bytes, std::uint32_t first_byte) {
  TileLoad load =
      tile(type, {elements_in(first_byte + bytes + 48, type)}, {elements_in(bytes, type)},
           {static_cast<std::int32_t>(elements_in(first_byte, type))});
  load.map.bulk = true;
  return load;
}

TileLoad random_bulk_load(std::uint64_t seed) {
  Draws draws(splitmix64(seed));
  const auto type = static_cast<DataType>(draws.below(kDataTypes));
  TileLoad load = bulk_load(type, 16 * draws.between(1, 512), 16 * draws.below(64));
  load.map.base_offset = 16 * draws.below(16);
  load.destination_offset = 16 * draws.below(72);
  load.hint = static_cast<CacheHint>(draws.below(4));
  load.source = static_cast<MemorySource>(draws.below(4));
  load.cold = draws.below(8) == 0;
  return load;
}

TileStore random_bulk_store(std::uint64_t seed) {
  Draws draws(splitmix64(~seed));
  TileLoad load = random_bulk_load(seed);
  const std::uint32_t stores = draws.between(1, kMaxStores);
  load.map.extent[0] =
      static_cast<std::uint64_t>(load.at[0]) + std::uint64_t{stores} * load.map.box[0];
  TileStore store = store_of(load);
  store.stores = stores;
  store.wait = draws.below(2) == 0 ? StoreWait::complete : StoreWait::read;
  if (draws.below(2) == 0) store.empty_groups = draws.below(2U << store.stores);
  store.bystander = draws.below(4) == 0;
  store.destination = static_cast<MemorySource>(draws.below(4));
  const auto reduction = static_cast<Reduction>(draws.below(kReductions));
  if (reduces_in_bulk(reduction, load.map.type)) {
    store.reduction = reduction;
    store.destination = MemorySource::device;
    store.one_box = stores > 1 && commutes(reduction, load.map.type) && draws.below(2) == 0;
  } else {
    store.hint = load.hint;
  }
  return store;
}

bool reduces_in_bulk(Reduction reduction, DataType type) {
  return reduces(reduction, type) && type != DataType::f32;  // which may flush, and need not
}

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

// Legal bulk stores and reductions drawn at random over all that they can vary.
std::vector<Op> bulk_random_rows(const RunContext& context) {
  return drawn_rows(context, {32, 1000, 4000}, random_bulk_store);
}

const Register kBulkRandom{{
    .name = "store.bulk.random",
    .claim = "any legal bulk store or bulk reduction does what the documents say, however its "
             "features meet",
    .cites = "PTX ISA 9.0, 9.7.9.25.4.1 cp.async.bulk; 9.7.9.25.4.2 cp.reduce.async.bulk",
    .rows = bulk_random_rows,
}};

// Bulk stores of every size class, from and to every address on 16 bytes.
std::vector<Op> bulk_sizes_rows(const RunContext&) {
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

const Register kBulkSizes{{
    .name = "store.bulk.sizes",
    .claim = "a bulk store writes so many consecutive bytes, any multiple of 16, from and to any "
             "address on 16, and nothing else",
    .cites = "PTX ISA 9.0, 9.7.9.25.4.1 cp.async.bulk",
    .rows = bulk_sizes_rows,
}};

}  // namespace

}  // namespace tidemark
