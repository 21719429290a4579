// Looks places up in the swizzle tables of the PTX ISA and walks back through the box to the
// tensor.
#include "suite/oracle/place/tile_place.hpp"

#include <algorithm>

#include "suite/oracle/place/im2col_place.hpp"
#include "suite/oracle/place/interleave.hpp"

namespace tidemark::suite {
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

}  // namespace tidemark::suite
