// Layouts for copies by interleaved maps: legal by construction, with extents that all differ.
#include "suite/conformance/interleave.hpp"

#include <algorithm>

namespace tidemark {
namespace {

constexpr std::array<Interleave, 2> kInterleaves{Interleave::b16, Interleave::b32};

// A load of the first box, from a tensor whose rows lie `gap` units apart, and all else packed.
TileLoad packed(const TileLoad& load, Interleave interleave, std::uint32_t gap) {
  TileLoad packed = load;
  TensorMapSpec& map = packed.map;
  map.interleave = interleave;
  if (interleave == Interleave::b32) map.swizzle = Swizzle::b32;
  map.stride[0] = unit_bytes(map) * (map.extent[0] + gap);
  for (std::uint32_t i = 1; i + 1 < map.rank; ++i)
    map.stride[i] = map.stride[i - 1] * map.extent[i];
  packed.held_to = HeldTo::measurement;
  return packed;
}

// Tiles that end within what the swizzle exchanges are not measured. Units of 32 bytes never do.
void drop_partial_swizzle(TensorMapSpec& map) {
  if (tile_span(map) % std::max(swizzle_bytes(map.swizzle), 1U) != 0) map.swizzle = Swizzle::none;
}

}  // namespace

TileLoad interleaved_load(DataType type, Interleave interleave, std::uint32_t rank) {
  const std::uint32_t row = elements_in(16, type);  // units; as elements they have to be 16 bytes
  std::vector<std::uint64_t> extent{row + 5, 7, 4};
  std::vector<std::uint32_t> box{row, 4, 2};
  extent.resize(rank - 2);
  box.resize(rank - 2);
  extent.insert(extent.end(), {3, 6});
  box.insert(box.end(), {2, 3});
  return packed(tile(type, extent, box, {2, 1, 1, 1, 1}), interleave, 1);
}

std::vector<TileLoad> interleaved_loads() {
  std::vector<TileLoad> loads;
  for (const DataType type : kTypeOfEachSize) {
    for (std::uint32_t rank = 3; rank <= kMaxRank; ++rank)
      for (const Interleave interleave : kInterleaves)
        loads.push_back(interleaved_load(type, interleave, rank));
    for (const Swizzle swizzle : kSwizzles) {
      loads.push_back(interleaved_load(type, Interleave::b16, 4));
      loads.back().map.swizzle = swizzle;
    }
  }
  return loads;
}

TileLoad over_end(TileLoad load, bool far) {
  for (std::uint32_t i = 0; i < load.map.rank; ++i)
    if (i + 2 != load.map.rank) load.at[i] = far ? highest_inside(load, i) + 1 : -1;
  return load;
}

TileLoad with_element_strides(TileLoad load) {
  load.map.element_stride = {2, 3, 2, 3, 2};
  return load;
}

TileStore interleaved_store(const TileLoad& load) {
  TileStore store = store_of(load);
  store.map.element_stride = {1, 1, 1, 1, 1};
  store.held_to = HeldTo::measurement;
  return store;
}

TileLoad random_interleaved_load(std::uint64_t seed) {
  Draws draws(splitmix64(seed ^ 0x17e4));
  const auto type = static_cast<DataType>(draws.below(kDataTypes));
  const Interleave interleave = kInterleaves[draws.below(2)];
  // Half of them as wide as can be, and half of the rows narrow: they meet often.
  const Swizzle swizzle =
      draws.below(2) == 0 ? Swizzle::b128 : static_cast<Swizzle>(draws.below(4));
  const std::uint32_t rank = draws.between(3, kMaxRank);
  constexpr std::uint32_t kHighestBox[] = {16, 5, 3};  // by rank, so that rows stay quick
  const std::uint32_t chunk = elements_in(16, type);
  std::vector<std::uint32_t> box{chunk * (draws.below(2) == 0 ? 1 : draws.between(1, 16 / chunk))};
  std::vector<std::uint64_t> extent{draws.between(1, box[0] + 4)};
  for (std::uint32_t i = 1; i < rank; ++i) {
    box.push_back(draws.between(1, kHighestBox[rank - 3]));
    extent.push_back(draws.between(1, (i + 2 == rank ? 1 : box[i]) + 4));
  }
  TileLoad load = packed(tile(type, extent, box), interleave, draws.below(3));
  for (std::uint32_t i = 0; i < rank; ++i) {
    if (draws.below(3) == 0) load.map.element_stride[i] = draws.between(1, 8);
    const auto span = static_cast<std::int32_t>(spanned(load.map, i));
    const auto reach = static_cast<std::uint32_t>(extent[i]) + spanned(load.map, i);
    load.at[i] = static_cast<std::int32_t>(draws.below(reach)) - span + 1;
  }
  if (interleave == Interleave::b16) load.map.swizzle = swizzle;
  drop_partial_swizzle(load.map);
  load.map.l2_promotion = static_cast<L2Promotion>(draws.below(4));
  if (is_floating(type) && draws.below(2) == 0) load.map.fill = Fill::nan;
  load.map.base_offset = (load.map.swizzle == Swizzle::none ? 16 : 128) * draws.below(9);
  load.destination_offset = 128 * draws.below(8);
  load.hint = static_cast<CacheHint>(draws.below(4));
  load.source = static_cast<MemorySource>(draws.below(4));
  load.cold = draws.below(16) == 0;
  return load;
}

TileStore random_interleaved_store(std::uint64_t seed) {
  Draws draws(splitmix64(~seed));
  TileStore store = interleaved_store(random_interleaved_load(seed));
  drop_partial_swizzle(store.map);
  store.stores = draws.between(1, 3);
  store.wait = draws.below(2) == 0 ? StoreWait::complete : StoreWait::read;
  store.hint = static_cast<CacheHint>(draws.below(4));
  store.destination = static_cast<MemorySource>(draws.below(4));
  return store;
}

}  // namespace tidemark
