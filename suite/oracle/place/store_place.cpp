// Walks back from an address through the tensor and the box to shared memory.
#include "suite/oracle/place/store_place.hpp"

#include <algorithm>

#include "suite/oracle/place/im2col_place.hpp"
#include "suite/oracle/place/interleave.hpp"
#include "suite/oracle/place/tile_place.hpp"

namespace tidemark::suite {
namespace {

// The place of the window from which byte `linear` of the unswizzled tile comes: of the eight
// chunks in its 128 bytes, the one that the swizzle table says holds it.
std::uint32_t place_of_linear(const StoreBox& box, std::uint32_t linear) {
  constexpr std::uint32_t kChunk = 16, kRow = 128;
  const TileLoad as_load{
      .map = box.map, .destination_offset = box.offset - kGuardBytes, .payload = {}};
  const std::uint32_t row = (box.offset + linear) / kRow * kRow;
  std::uint32_t place = row + linear % kChunk;
  while (unswizzled_byte(as_load, place) != linear) place += kChunk;
  return place;
}

}  // namespace

std::int64_t stored_row_bytes(const TensorMapSpec& map) {
  const auto exact = static_cast<std::int64_t>(map.extent[0]) * bytes_counted(map);
  return (exact + 15) / 16 * 16;
}

StorePlace store_place(const StoreBox& box, std::uint64_t offset) {
  const TensorMapSpec& map = box.map;
  const std::uint32_t size = bytes_counted(map);
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

  std::uint32_t linear = 0;
  if (map.im2col) {
    const auto from = im2col_stored_from(map, box.at, place.element);
    if (!from) return {.element = place.element};
    linear = *from;
  }
  for (std::uint32_t i = map.im2col ? 0 : map.rank; i-- > 0;) {
    const std::int64_t index = place.element[i] - box.at[i];
    const std::int64_t step = step_along(map, i);
    if (index < 0 || index >= reach_along(map, i) || index % step != 0)
      return {.element = place.element};
    linear = linear * taken_along(map, i) + static_cast<std::uint32_t>(index / step);
  }
  if (place.stored) {
    linear = linear * size + static_cast<std::uint32_t>(rest % size);
    place.window_offset = place_of_linear(box, linear);
  }
  return place;
}

StoreRange store_range(const StoreBox& box) {
  const TensorMapSpec& map = box.map;
  std::uint64_t first = kGuardBytes + map.base_offset, last = first;  // element
  if (map.im2col)                                                     // some of all of it
    return {.begin = first / 16 * 16, .end = (first + tensor_bytes(map) + 15) / 16 * 16};
  for (std::uint32_t i = 0; i < map.rank; ++i) {
    const auto begin = static_cast<std::uint64_t>(box.at[i]);
    if (begin >= map.extent[i]) return {};
    const std::uint64_t pitch = i == 0 ? bytes_counted(map) : map.stride[i - 1];
    first += begin * pitch;
    last += (std::min(begin + reach_along(map, i), map.extent[i]) - 1) * pitch;
  }
  return {.begin = first / 16 * 16, .end = last / 16 * 16 + std::max(bytes_counted(map), 16U)};
}

bool may_overlap(const TileLoad& load, const StoreBox& box) {
  const TensorMapSpec &from = load.map, &to = box.map;
  if (from.im2col || to.im2col || from.interleave != to.interleave || from.type != to.type ||
      from.rank != to.rank || from.extent != to.extent || from.stride != to.stride ||
      from.base_offset != to.base_offset)
    return true;
  for (std::uint32_t i = 0; i < from.rank; ++i)
    if (load.at[i] + std::int64_t{from.box[i]} <= box.at[i] ||
        box.at[i] + std::int64_t{to.box[i]} <= load.at[i])
      return false;
  return true;
}

}  // namespace tidemark::suite
