// Walks back from an address through the tensor and the box to shared memory.
#include "suite/oracle/store_place.hpp"

#include "suite/oracle/tile_place.hpp"

namespace tidemark::suite {
namespace {

// The place of the window from which byte `linear` of the unswizzled tile of box `group` comes: of
// the eight chunks in its 128 bytes, the one that the swizzle table says holds it.
std::uint32_t place_of_linear(const TileStore& store, std::uint32_t group, std::uint32_t linear) {
  constexpr std::uint32_t kChunk = 16, kRow = 128;
  const std::uint32_t begin = tile_offset(store, group);
  TileLoad as_load{
      .map = store.map, .destination_offset = begin - kGuardBytes, .payload = store.payload};
  const std::uint32_t row = (begin + linear) / kRow * kRow;
  std::uint32_t place = row + linear % kChunk;
  while (unswizzled_byte(as_load, place) != linear) place += kChunk;
  return place;
}

}  // namespace

std::int64_t stored_row_bytes(const TensorMapSpec& map) {
  const auto exact = static_cast<std::int64_t>(map.extent[0]) * element_bytes(map.type);
  return (exact + 15) / 16 * 16;
}

StorePlace store_place(const TileStore& store, std::uint64_t offset) {
  const TensorMapSpec& map = store.map;
  const std::uint32_t size = element_bytes(map.type);
  StorePlace place;
  if (offset < kGuardBytes + map.base_offset) return place;
  auto rest = static_cast<std::int64_t>(offset - kGuardBytes - map.base_offset);
  place.stored = true;
  for (std::uint32_t i = map.rank - 1; i > 0; --i) {
    const auto stride = static_cast<std::int64_t>(map.stride[i - 1]);
    place.element[i] = rest / stride;
    rest %= stride;
    if (place.element[i] >= static_cast<std::int64_t>(map.extent[i])) place.stored = false;
  }
  place.element[0] = rest / size;
  if (rest >= stored_row_bytes(map)) place.stored = false;

  std::uint32_t group = 0, linear = 0;
  for (std::uint32_t i = map.rank; i-- > 0;) {
    const std::int64_t box = map.box[i];
    std::int64_t index = place.element[i] - store.at[i];
    if (index < 0) return {.element = place.element};
    if (i + 1 == map.rank) {  // the boxes of the groups follow each other here
      if (index >= box * store.stores) return {.element = place.element};
      group = static_cast<std::uint32_t>(index / box);
      index %= box;
    }
    if (index >= box) return {.element = place.element};
    const std::int64_t step = i == 0 ? 1 : map.element_stride[i];
    if (index % step != 0) return {.element = place.element};
    linear = linear * tile_extent(map, i) + static_cast<std::uint32_t>(index / step);
  }
  if (place.stored) {
    linear = linear * size + static_cast<std::uint32_t>(rest % size);
    place.window_offset = place_of_linear(store, group, linear);
  }
  return place;
}

}  // namespace tidemark::suite
