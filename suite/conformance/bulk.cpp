// Bulk copies, legal by construction.
#include "suite/conformance/bulk.hpp"

#include "suite/conformance/store.hpp"

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

}  // namespace tidemark
