// Layouts for tile stores: what loads find legal, and starts that are not negative.
#include "suite/conformance/store.hpp"

#include <algorithm>

namespace tidemark {

TileStore store_of(const TileLoad& load) {
  TileStore store{.map = load.map, .at = load.at, .source_offset = load.destination_offset};
  store.map.l2_promotion = L2Promotion::none;  // neither says anything to a store
  store.map.fill = Fill::zero;
  for (std::int32_t& at : store.at) at = std::max(at, 0);
  return store;
}

TileStore over_far_end(DataType type, std::uint32_t rank, std::uint32_t dimensions,
                       std::int32_t overhang) {
  TileLoad load = tile_of_rank(type, rank);
  for (std::uint32_t i = 0; i < rank; ++i)
    if ((dimensions >> i & 1U) != 0)
      load.at[i] = highest_inside(load, i) + overhang * step_of(load, i);
  return store_of(load);
}

TileStore ragged_store(DataType type, std::uint32_t rank, std::uint32_t left) {
  const std::uint32_t chunk = elements_in(16, type);
  std::vector<std::uint64_t> extent{2 * chunk + left, 5, 3, 3, 2};
  std::vector<std::uint32_t> box{4 * chunk, 4, 2, 2, 1};
  extent.resize(rank);
  box.resize(rank);
  TileLoad load = tile(type, extent, box);
  for (std::uint32_t i = 1; i < rank; ++i)  // two chunks and more that nothing may reach
    load.map.stride[i - 1] = i == 1 ? 16 * 5 : load.map.stride[i - 2] * extent[i - 1];
  TileStore store = store_of(load);
  store.held_to = HeldTo::measurement;
  return store;
}

TileStore random_store(std::uint64_t seed) {
  const auto drawn = [&](std::uint64_t which, std::uint64_t bound) {
    return static_cast<std::uint32_t>(splitmix64(splitmix64(seed) + which) % bound);
  };
  TileLoad load = random_tile(seed);
  const auto step = static_cast<std::uint64_t>(step_of(load, 0));
  load.map.extent[0] = (load.map.extent[0] + step - 1) / step * step;  // rows of whole 16 bytes
  load.map.element_stride = {1, 1, 1, 1, 1};
  for (std::uint32_t i = 0; i < load.map.rank; ++i) {
    const auto along = static_cast<std::uint32_t>(step_of(load, i));
    load.at[i] = static_cast<std::int32_t>(along * drawn(i, load.map.extent[i] / along + 1));
  }
  TileStore store = store_of(load);
  store.stores = 1 + drawn(10, kMaxStores);
  store.wait = drawn(11, 2) == 0 ? StoreWait::complete : StoreWait::read;
  if (drawn(12, 2) == 0) store.empty_groups = drawn(13, 2U << store.stores);
  store.bystander = drawn(14, 4) == 0;
  store.hint = static_cast<CacheHint>(drawn(15, 4));
  store.destination = static_cast<MemorySource>(drawn(16, 4));
  return store;
}

}  // namespace tidemark
