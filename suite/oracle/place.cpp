// Where the bytes of a tile lie: the pull side of the oracle, used to predict and to explain.
#include "suite/oracle/place.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <numeric>

#include "kernels/error.hpp"

namespace tidemark {

// Looks places up in the swizzle tables of the PTX ISA and walks back through the box to the
// tensor.

namespace {

// PTX ISA 9.0, 5.5.7: each row is 128 bytes of shared memory in eight 16-byte chunks, each entry
// the chunk of the unswizzled row that stands there. Rows repeat over the absolute address. Kept as
// printed there, not as a formula, so that a slip in a formula elsewhere cannot be repeated here.
using ChunkRow = std::array<std::uint8_t, 8>;
constexpr std::uint32_t kChunk = 16, kRow = 128;

constexpr std::array<ChunkRow, 8> kNone{{
    {0, 1, 2, 3, 4, 5, 6, 7},
    {0, 1, 2, 3, 4, 5, 6, 7},
    {0, 1, 2, 3, 4, 5, 6, 7},
    {0, 1, 2, 3, 4, 5, 6, 7},
    {0, 1, 2, 3, 4, 5, 6, 7},
    {0, 1, 2, 3, 4, 5, 6, 7},
    {0, 1, 2, 3, 4, 5, 6, 7},
    {0, 1, 2, 3, 4, 5, 6, 7},
}};
constexpr std::array<ChunkRow, 8> kBytes32{{
    {0, 1, 2, 3, 4, 5, 6, 7},
    {1, 0, 3, 2, 5, 4, 7, 6},
    {0, 1, 2, 3, 4, 5, 6, 7},
    {1, 0, 3, 2, 5, 4, 7, 6},
    {0, 1, 2, 3, 4, 5, 6, 7},
    {1, 0, 3, 2, 5, 4, 7, 6},
    {0, 1, 2, 3, 4, 5, 6, 7},
    {1, 0, 3, 2, 5, 4, 7, 6},
}};
constexpr std::array<ChunkRow, 8> kBytes64{{
    {0, 1, 2, 3, 4, 5, 6, 7},
    {1, 0, 3, 2, 5, 4, 7, 6},
    {2, 3, 0, 1, 6, 7, 4, 5},
    {3, 2, 1, 0, 7, 6, 5, 4},
    {0, 1, 2, 3, 4, 5, 6, 7},
    {1, 0, 3, 2, 5, 4, 7, 6},
    {2, 3, 0, 1, 6, 7, 4, 5},
    {3, 2, 1, 0, 7, 6, 5, 4},
}};
constexpr std::array<ChunkRow, 8> kBytes128{{
    {0, 1, 2, 3, 4, 5, 6, 7},
    {1, 0, 3, 2, 5, 4, 7, 6},
    {2, 3, 0, 1, 6, 7, 4, 5},
    {3, 2, 1, 0, 7, 6, 5, 4},
    {4, 5, 6, 7, 0, 1, 2, 3},
    {5, 4, 7, 6, 1, 0, 3, 2},
    {6, 7, 4, 5, 2, 3, 0, 1},
    {7, 6, 5, 4, 3, 2, 1, 0},
}};

const std::array<ChunkRow, 8>& table_of(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::b32:
      return kBytes32;
    case Swizzle::b64:
      return kBytes64;
    case Swizzle::b128:
      return kBytes128;
    case Swizzle::none:
      break;
  }
  return kNone;
}

}  // namespace

std::uint32_t unswizzled_byte(const TileLoad& load, std::uint32_t place) {
  // The window starts on 1024 bytes, so `place` has the row and the chunk of the address.
  const ChunkRow& row = table_of(load.map.swizzle)[place / kRow % 8];
  const std::uint32_t chunk = row[place / kChunk % 8];
  return place / kRow * kRow + chunk * kChunk + place % kChunk - tile_start(load);
}

std::uint32_t swizzled_chunk(Swizzle swizzle, std::uint32_t row, std::uint32_t chunk) {
  const ChunkRow& chunks = table_of(swizzle)[row];
  return static_cast<std::uint32_t>(std::find(chunks.begin(), chunks.end(), chunk) -
                                    chunks.begin());
}

TilePlace element_at(const TileLoad& load, std::uint32_t byte) {
  const TensorMapSpec& map = load.map;
  if (map.im2col) return im2col_element_at(load, byte);
  const std::uint32_t size = bytes_counted(map);
  const std::uint32_t row = taken_along(map, 0) * size;
  // To the next. Interleaved maps have no gaps behind narrow rows.
  const std::uint32_t from_row =
      map.interleave == Interleave::none ? std::max(row, swizzle_bytes(map.swizzle)) : row;
  TilePlace place{.inside = true, .byte = byte % size};
  if (byte % from_row >= row) return {.gap = true};
  std::uint32_t rest = byte / from_row * taken_along(map, 0) + byte % from_row / size;
  std::int64_t source = kGuardBytes + map.base_offset + place.byte;
  for (std::uint32_t i = 0; i < map.rank; ++i) {
    const std::int64_t step = step_along(map, i);
    const std::uint32_t extent = taken_along(map, i);
    // 64 bits: a coordinate near INT32_MAX plus the box leaves 32.
    const std::int64_t index = load.at[i] + step * (rest % extent);
    rest /= extent;
    place.element[i] = index;
    place.inside = place.inside && index >= 0 && index < static_cast<std::int64_t>(map.extent[i]);
    const std::uint64_t pitch = i == 0 ? size : map.stride[i - 1];
    if (place.inside) source += index * static_cast<std::int64_t>(pitch);
  }
  place.source_offset = place.inside ? static_cast<std::uint64_t>(source) : 0;
  return place;
}

// Numbers the pixels of all bounding boxes and takes numbers apart again.

namespace {

// One dimension of the images: W, H or D.
struct Axis {
  std::int64_t first = 0;   // pixel of the bounding box
  std::int64_t behind = 0;  // its last
  std::int64_t stride = 1;

  std::int64_t count() const { return (behind - first - 1) / stride + 1; }
};

Axis axis_of(const TensorMapSpec& map, std::uint32_t k) {
  return {.first = map.lower_corner[k],
          .behind = static_cast<std::int64_t>(map.extent[k + 1]) + map.upper_corner[k],
          .stride = map.element_stride[k + 1]};
}

// Of a pixel of a bounding box, on its traversal strides.
template <class Coordinate>
std::int64_t number_of(const TensorMapSpec& map, const std::array<Coordinate, kMaxRank>& pixel) {
  const std::uint32_t batch = map.rank - 1;
  std::int64_t number = pixel[batch];
  for (std::uint32_t i = batch - 1; i >= 1; --i) {
    const Axis axis = axis_of(map, i - 1);
    number = number * axis.count() + (pixel[i] - axis.first) / axis.stride;
  }
  return number;
}

}  // namespace

TilePlace im2col_element_at(const TileLoad& load, std::uint32_t byte) {
  const TensorMapSpec& map = load.map;
  const std::uint32_t size = element_bytes(map.type), batch = map.rank - 1;
  const std::uint32_t pixel_bytes = map.box[0] * size;
  const std::uint32_t to_next = std::max(pixel_bytes, swizzle_bytes(map.swizzle));
  if (byte % to_next >= pixel_bytes) return {.gap = true};
  TilePlace place{.byte = byte % size};
  place.element[0] = load.at[0] + std::int64_t{byte % to_next / size};
  std::int64_t number = number_of(map, load.at) + byte / to_next;
  for (std::uint32_t i = 1; i < batch; ++i) {
    const Axis axis = axis_of(map, i - 1);
    place.element[i] =
        axis.first + number % axis.count() * axis.stride + load.im2col_offsets[i - 1];
    number /= axis.count();
  }
  place.element[batch] = number;
  place.inside = true;
  for (std::uint32_t i = 0; i <= batch; ++i)
    if (place.element[i] < 0 || place.element[i] >= static_cast<std::int64_t>(map.extent[i]))
      place.inside = false;
  if (!place.inside) return place;
  place.source_offset = kGuardBytes + map.base_offset + place.byte +
                        static_cast<std::uint64_t>(place.element[0]) * size;
  for (std::uint32_t i = 1; i <= batch; ++i)
    place.source_offset += static_cast<std::uint64_t>(place.element[i]) * map.stride[i - 1];
  return place;
}

void refuse_undocumented_pixels(const TileLoad& load) {
  const TensorMapSpec& map = load.map;
  const std::uint32_t batch = map.rank - 1;
  if (map.element_stride[0] != 1 || map.element_stride[batch] != 1)
    throw Error("im2col: a traversal stride along C or N has no prediction; take 1");
  if (load.at[0] < 0 || load.at[batch] < 0)
    throw Error(
        fmt::format("im2col: channel {} of image {}; take 0 and up", load.at[0], load.at[batch]));
  for (std::uint32_t i = 1; i < batch; ++i) {
    const Axis axis = axis_of(map, i - 1);
    // Where the walk begins off its grid, nothing says which pixels come behind the carry.
    if (load.at[i] < axis.first || load.at[i] >= axis.behind ||
        (load.at[i] - axis.first) % axis.stride != 0)
      throw Error(fmt::format(
          "im2col: first pixel {} of dimension {}; take one of the bounding box, on its "
          "traversal stride",
          load.at[i], i));
    if (load.im2col_offsets[i - 1] > highest_offset(map.rank))
      throw Error(fmt::format("im2col: offset {}; take at most {}", load.im2col_offsets[i - 1],
                              highest_offset(map.rank)));
  }
}

// Units, slices and steps of interleaved maps.

std::uint32_t bytes_counted(const TensorMapSpec& map) {
  switch (map.interleave) {
    case Interleave::b16:
      return 16;
    case Interleave::b32:
      return 32;
    case Interleave::none:
      break;
  }
  return element_bytes(map.type);
}

std::uint32_t reach_along(const TensorMapSpec& map, std::uint32_t i) {
  const bool slice = map.interleave != Interleave::none && i == map.rank - 2;
  return slice ? 1 : map.box[i];
}

std::uint32_t step_along(const TensorMapSpec& map, std::uint32_t i) {
  return i == 0 && map.interleave == Interleave::none ? 1 : map.element_stride[i];
}

std::uint32_t taken_along(const TensorMapSpec& map, std::uint32_t i) {
  return (reach_along(map, i) - 1) / step_along(map, i) + 1;
}

void refuse_interleave(const TensorMapSpec& map, HeldTo held_to) {
  if (map.interleave == Interleave::none) return;
  if (held_to != HeldTo::measurement)
    throw Error(
        "interleave: no document says what a copy by an interleaved map moves; hold the row to "
        "what was measured");
  if (map.im2col) throw Error("interleave: an im2col map; take a tiled one");
}

void refuse_part_of_swizzle(const TensorMapSpec& map, std::uint32_t first, std::uint32_t bytes) {
  if (map.interleave == Interleave::none || map.swizzle == Swizzle::none) return;
  const std::uint32_t atom = swizzle_bytes(map.swizzle), end = first + bytes;
  const bool exchanged = end / 128 % (atom / 16) != 0;  // in the row of 128 bytes in which it ends
  if (end % atom != 0 && exchanged)
    throw Error(
        fmt::format("interleave: a tile of {} bytes that ends within {} bytes which its swizzle "
                    "exchanges; take "
                    "a multiple of them",
                    bytes, atom));
}

// Takes the chunks of a tile to the places that its elements have in memory.

namespace {

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

std::vector<StoredChunk> stored_chunks(const StoreTarget& box) {
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

StorePlace store_place(const StoreTarget& box, std::uint64_t offset) {
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

bool may_overlap(const TileLoad& load, const StoreTarget& box) {
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

}  // namespace tidemark
