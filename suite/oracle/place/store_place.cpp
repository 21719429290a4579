// Takes the chunks of a tile to the places that its elements have in memory.
#include "suite/oracle/place/store_place.hpp"

#include <algorithm>
#include <numeric>

#include "suite/oracle/place/interleave.hpp"
#include "suite/oracle/place/tile_place.hpp"

namespace tidemark::suite {
namespace {

constexpr std::uint32_t kChunk = 16;

// Dimensions 1 and up, the shortest stride first.
std::vector<std::uint32_t> by_stride(const TensorMapSpec& map) {
  std::vector<std::uint32_t> order(map.rank - 1);
  std::iota(order.begin(), order.end(), 1U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return map.stride[a - 1] < map.stride[b - 1];
  });
  return order;
}

// Whether no two elements of the tensor have the same address.
bool lies_apart(const TensorMapSpec& map) {
  std::uint64_t below = map.extent[0] * bytes_counted(map);  // from the first to behind the last
  for (const std::uint32_t i : by_stride(map)) {
    if (map.extent[i] == 1) continue;
    if (map.stride[i - 1] < below) return false;
    below += (map.extent[i] - 1) * map.stride[i - 1];
  }
  return true;
}

}  // namespace

std::vector<StoredChunk> stored_chunks(const StoreBox& box) {
  const TileLoad tile{
      .map = box.map, .at = box.at, .destination_offset = box.offset - kGuardBytes, .payload = {}};
  std::vector<StoredChunk> chunks;
  for (std::uint32_t at = box.offset; at < box.offset + tile_span(box.map); at += kChunk) {
    const TilePlace place = element_at(tile, unswizzled_byte(tile, at));
    if (place.inside)
      chunks.push_back(
          {.element = place.element, .address = place.source_offset, .window_offset = at});
  }
  return chunks;
}

StorePlace store_place(const StoreBox& box, std::uint64_t offset) {
  const TensorMapSpec& map = box.map;
  const std::uint32_t size = bytes_counted(map);
  for (const StoredChunk& chunk : stored_chunks(box)) {
    if (offset < chunk.address || offset >= chunk.address + kChunk) continue;
    const auto byte = static_cast<std::uint32_t>(offset - chunk.address);
    StorePlace place{
        .element = chunk.element, .stored = true, .window_offset = chunk.window_offset + byte};
    place.element[0] += byte / size;
    return place;
  }
  StorePlace place;
  if (offset < kGuardBytes + map.base_offset) return place;
  auto rest = static_cast<std::int64_t>(offset - kGuardBytes - map.base_offset);
  const std::vector<std::uint32_t> order = by_stride(map);
  for (auto i = order.rbegin(); i != order.rend(); ++i) {
    const auto stride = static_cast<std::int64_t>(map.stride[*i - 1]);
    if (stride == 0) continue;
    place.element[*i] = rest / stride;
    rest %= stride;
  }
  place.element[0] = rest / size;
  return place;
}

bool may_overlap(const TileLoad& load, const StoreBox& box) {
  const TensorMapSpec &from = load.map, &to = box.map;
  if (from.im2col || to.im2col || from.interleave != to.interleave || from.type != to.type ||
      from.rank != to.rank || from.extent != to.extent || from.stride != to.stride ||
      from.base_offset != to.base_offset || !lies_apart(from))
    return true;
  for (std::uint32_t i = 0; i < from.rank; ++i)
    if (load.at[i] + std::int64_t{from.box[i]} <= box.at[i] ||
        box.at[i] + std::int64_t{to.box[i]} <= load.at[i])
      return false;
  return true;
}

}  // namespace tidemark::suite
