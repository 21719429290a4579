// Geometry, bounds, fetch and swizzle of a tile load, each with the faults that change it.
#include "kernels/virtual/copies/tile_chunks.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/virtual/copies/map_faults.hpp"
#include "kernels/virtual/copies/tile_load_faults.hpp"
#include "kernels/virtual/copies/tile_memory.hpp"

namespace tidemark {

// Walks over pixels by carrying, with the faults that change a step of it.

namespace {

using Coordinates = std::array<std::int64_t, kMaxRank>;

// The bounding box along W, H and D: the first pixel of it, and the last.
struct PixelBox {
  std::array<std::int64_t, kMaxSpatial> first{}, last{};
};

PixelBox box_of(const TensorMapSpec& map, const TileGeometry& tile) {
  TensorMapSpec taken = map;
  if (tile.fault == kFaultIm2colCornersReversed)
    for (auto* const corners : {&taken.lower_corner, &taken.upper_corner})
      std::reverse(corners->begin(), corners->begin() + spatial_of(map));
  PixelBox box;
  for (std::uint32_t k = 0; k < spatial_of(map); ++k) {
    box.first[k] = tile.fault == kFaultIm2colLowerIgnored ? 0 : taken.lower_corner[k];
    box.last[k] = static_cast<std::int64_t>(map.extent[k + 1]) - 1 + taken.upper_corner[k];
    if (tile.fault == kFaultIm2colCarryEarly) --box.last[k];
    if (tile.fault == kFaultIm2colCarryLate) ++box.last[k];
    if (tile.fault == kFaultIm2colUpperIgnored) box.last[k] -= taken.upper_corner[k];
  }
  return box;
}

void advance(Coordinates& pixel, const PixelBox& box, const TensorMapSpec& map,
             const TileGeometry& tile) {
  const std::uint32_t spatial = spatial_of(map);
  for (std::uint32_t k = 0; k < spatial; ++k) {
    pixel[k + 1] += tile.fault == kFaultIm2colStrideIgnored ? 1 : tile.step[k + 1];
    if (pixel[k + 1] <= box.last[k]) return;
    pixel[k + 1] = box.first[k];
  }
  if (tile.fault != kFaultIm2colBatchStays) ++pixel[spatial + 1];
}

Coordinates with_offsets(Coordinates pixel, const TileLoad& load, const TileGeometry& tile) {
  const std::uint32_t spatial = spatial_of(load.map);
  auto offsets = load.im2col_offsets;
  if (tile.fault == kFaultIm2colOffsetsReversed)
    std::reverse(offsets.begin(), offsets.begin() + spatial);
  for (std::uint32_t k = 0; k < spatial; ++k) {
    if (tile.fault == kFaultIm2colOffsetsIgnored) offsets[k] = 0;
    if (tile.fault == kFaultIm2colOffsetsShort)
      offsets[k] = static_cast<std::uint16_t>(offsets[k] & highest_offset(load.map.rank) / 2);
    pixel[k + 1] += offsets[k];
    if (tile.fault == kFaultIm2colClamped)
      pixel[k + 1] = std::clamp<std::int64_t>(pixel[k + 1], 0, tile.extent[k + 1] - 1);
  }
  return pixel;
}

}  // namespace

std::vector<std::array<std::int64_t, kMaxRank>> im2col_pixels(const TileLoad& load,
                                                              const TileGeometry& tile) {
  const PixelBox box = box_of(load.map, tile);
  std::vector<Coordinates> pixels;
  Coordinates pixel = tile.first;
  for (std::uint32_t p = 0; p < tile.count[1]; ++p) {
    pixels.push_back(with_offsets(pixel, load, tile));
    advance(pixel, box, load.map, tile);
  }
  return pixels;
}

bool takes_channel(const TileGeometry& tile, std::int64_t channel) {
  return tile.fault == kFaultIm2colChannelsRunOn && !tile.pixels.empty() && channel >= 0;
}

namespace {

constexpr std::int64_t kLow32Bits = 0xffffffff, kLow36Bits = 0xfffffffff;

using Coordinates = std::array<std::int64_t, kMaxRank>;

void break_interleave(TileGeometry& tile, const TensorMapSpec& map, Fault fault) {
  const std::uint32_t slice = tile.rank - 2;  // rank 3 and up
  if (fault == kFaultInterleaveAsElements) tile.pitch[0] = tile.element;
  if (fault == kFaultInterleaveSlicesTraversed) tile.count[slice] = map.box[slice];
  if (fault == kFaultInterleaveStrideIgnored) tile.step[0] = 1;
  if (fault == kFaultInterleaveRowsPadded)
    tile.row_pitch = std::max(tile.row_pitch, swizzle_bytes(tile.swizzle));
  if (fault == kFaultInterleaveSliceStride) tile.pitch[slice] = tile.pitch[slice - 1];
  if (fault == kFaultInterleaveSliceByChannel) tile.first[slice] /= tile.unit / tile.element;
}

void break_geometry(TileGeometry& tile, const TensorMapSpec& map, Fault fault) {
  if (is_interleaved(map)) break_interleave(tile, map, fault);
  if (fault == kFaultNarrowRowsPacked) tile.row_pitch = tile.count[0] * tile.unit;
  if (fault == kFaultStridesExchanged && tile.rank >= 3) std::swap(tile.pitch[1], tile.pitch[2]);
  if (fault == kFaultGroupStrideAsRow && tile.rank >= 3)
    tile.pitch[2] = std::max(tile.pitch[1], tile.pitch[2]);
  if (fault == kFaultAsyncShifted && tile.source == MemorySource::async) tile.base -= kChunkBytes;
  if (fault == kFaultStartExchanged && tile.rank >= 3) std::swap(tile.first[1], tile.first[2]);
  if (fault == kFaultBaseOffsetIgnored) tile.base = kGuardBytes;
  if (fault == kFaultBf16AsFourBytes && map.type == DataType::bf16) tile.pitch[0] = 4;
  if (fault == kFaultTf32AsTwoBytes && map.type >= DataType::tf32) tile.pitch[0] = 2;
  if (fault == kFaultElementStrideInner && map.element_stride[0] > 1)
    tile.step[0] = map.element_stride[0];
  for (std::uint32_t i = 0; i < tile.rank; ++i) {
    if (fault == kFaultStartTruncated) tile.first[i] = static_cast<std::int16_t>(tile.first[i]);
    if (fault == kFaultStartTruncated24)
      tile.first[i] =
          static_cast<std::int32_t>(static_cast<std::uint32_t>(tile.first[i]) << 8) >> 8;
    if (fault == kFaultUpperInnerLong && i == 0) ++tile.extent[i];
    if (fault == kFaultUpperInnerShort && i == 0) --tile.extent[i];
    if (fault == kFaultUpperOuterLong && i > 0) ++tile.extent[i];
    if (fault == kFaultUpperOuterShort && i > 0) --tile.extent[i];
    if (i == 0) continue;
    if (fault == kFaultStridesPacked)
      tile.pitch[i] = tile.pitch[i - 1] * static_cast<std::int64_t>(map.extent[i - 1]);
    if (fault == kFaultStride32Bits) tile.pitch[i] &= kLow32Bits;
    if (fault == kFaultStride36Bits) tile.pitch[i] &= kLow36Bits;
    if (fault == kFaultElementStrideIgnored) tile.step[i] = 1;
    if (fault == kFaultElementStrideRoundsDown)
      tile.count[i] = std::max(1U, map.box[i] / map.element_stride[i]);
  }
  if (fault == kFaultUpperInnerRounded) {
    const std::int64_t per_chunk = std::max<std::int64_t>(kChunkBytes / tile.unit, 1);
    tile.extent[0] = (tile.extent[0] + per_chunk - 1) / per_chunk * per_chunk;
  }
}

std::int64_t coordinate(const TileGeometry& tile, std::uint32_t i, std::int64_t x) {
  if (tile.fault == kFaultElementStrideScalesStart && i > 0)
    return (tile.first[i] + x) * tile.step[i];
  return tile.first[i] + x * tile.step[i];
}

// Where a row of the tile lies in the source, as far as dimensions 1 and up decide it.
struct SourceRow {
  std::int64_t offset = 0;
  bool inside = true;
};

SourceRow source_row(const TileGeometry& tile, const Coordinates& x) {
  SourceRow row{.offset = tile.base};
  for (std::uint32_t i = 1; i < tile.rank; ++i) {
    std::int64_t at = tile.pixels.empty() ? coordinate(tile, i, x[i])
                                          : tile.pixels[static_cast<std::size_t>(x[1])][i];
    if (tile.fault == kFaultLowerOuterClamped) at = std::max<std::int64_t>(at, 0);
    const bool below_ok = at >= 0 || tile.fault == kFaultLowerOuterIgnored;
    row.inside = row.inside && below_ok && at < tile.extent[i];
    if (tile.fault == kFaultUpperOuterByBox && tile.first[i] + tile.box[i] > tile.extent[i])
      row.inside = false;
    row.offset += at * tile.pitch[i];
  }
  if (tile.fault == kFaultUpperInnerByRow && tile.first[0] + tile.box[0] > tile.extent[0])
    row.inside = false;
  return row;
}

bool inside_inner(const TileGeometry& tile, std::int64_t at) {
  return (at >= 0 || tile.fault == kFaultLowerInnerIgnored) && at < tile.extent[0];
}

void read(std::span<const std::uint8_t> source, std::int64_t offset, std::uint8_t* to,
          std::uint32_t bytes) {
  const auto size = static_cast<std::int64_t>(source.size());
  if (offset >= 0 && offset <= size - bytes) {
    std::memcpy(to, &source[static_cast<std::size_t>(offset)], bytes);
    return;
  }
  for (std::uint32_t i = 0; i < bytes; ++i) {  // only a fault comes here
    const std::int64_t at = offset + i;
    to[i] = at >= 0 && at < size ? source[static_cast<std::size_t>(at)] : std::uint8_t{0xee};
  }
}

// Where in the source allocation the element lies that belongs at `offset`.
std::int64_t fetched_from(const TileGeometry& tile, std::int64_t offset) {
  constexpr std::int64_t kPage = 4096;
  if (tile.fault == kFaultMappedRepeats && tile.source == MemorySource::mapped && offset >= 0)
    return offset % kPage;
  if (tile.fault == kFaultOffset32Bits) offset = tile.base + ((offset - tile.base) & kLow32Bits);
  if (tile.islands.empty()) return offset;
  const std::uint64_t held = held_byte(tile.islands, static_cast<std::uint64_t>(offset));
  return held == kNowhere ? -std::int64_t{kChunkBytes} : static_cast<std::int64_t>(held);
}

// The faults of the NaN fill that touch only the last element of a chunk.
void break_last_nan(const TileGeometry& tile, Chunk& chunk) {
  std::uint8_t* const nan = &chunk.bytes[kChunkBytes - tile.element];
  if (tile.fault == kFaultNanFillOtherBits)
    for (std::uint32_t i = 0; i < tile.element; ++i) nan[i] = i % 2 == 0 ? 0xff : 0x7f;
  if (tile.fault != kFaultNanFillInfinity) return;
  std::fill_n(nan, tile.element, std::uint8_t{0});
  nan[tile.element - 1] = tile.type == DataType::f16 ? 0x7c : 0x7f;
  if (tile.type != DataType::f16) nan[tile.element - 2] = tile.type == DataType::f64 ? 0xf0 : 0x80;
}

// Which NaN a floating type gets is not documented; an H200 gives 0x7ff7 in every 16 bits, which is
// one in each.
void fill_element(const TileGeometry& tile, Chunk& chunk, std::uint32_t byte) {
  bool nan = tile.fill == Fill::nan;
  if (tile.fault == kFaultNanFillZero) nan = false;
  if (tile.fault == kFaultZeroFillNan && is_floating(tile.type)) nan = true;
  const bool ones = tile.fault == kFaultFillOnes && !nan;
  for (std::uint32_t i = 0; i < tile.element; ++i) {
    const bool pattern = nan && !(tile.fault == kFaultNanFillLowWord && i >= 2);
    chunk.bytes[byte + i] = pattern ? (i % 2 == 0 ? 0xf7 : 0x7f) : (ones ? 0xff : 0x00);
    if (tile.fault == kFaultFillSkipped)
      chunk.written = static_cast<std::uint16_t>(chunk.written & ~(1U << (byte + i)));
  }
  if (nan && byte + tile.element == kChunkBytes) break_last_nan(tile, chunk);
}

// What a map of f32_ftz, tf32 or tf32_ftz makes of an element. No document says how; this is what
// an H100 does with each of the 2^32 words (driver 580.159.04, 2026-11): f32_ftz keeps all, tf32
// and tf32_ftz round to the nearest, ties to even, and have one NaN.
void convert(const TileGeometry& tile, std::uint8_t* element) {
  std::uint32_t word = 0;
  std::memcpy(&word, element, sizeof(word));
  const bool flushed =
      (tile.fault == kFaultFtzFlushes && tile.type == DataType::f32_ftz) ||
      (tile.fault == kFaultTf32SubnormalsFlushed && tile.type == DataType::tf32_ftz);
  if (flushed && (word & 0x7f800000U) == 0) word &= 0x80000000U;
  if (tile.type != DataType::f32_ftz) {
    const bool nan = (word & 0x7fffffffU) > 0x7f800000U;
    std::uint32_t up = 0xfffU + (word >> 13 & 1U);
    if (tile.fault == kFaultTf32TiesAway) up = 0x1000U;
    if (tile.fault == kFaultTf32Truncated || nan) up = 0;
    word = nan && tile.fault != kFaultTf32NanKept ? 0x7fffe000U : (word + up) & 0xffffe000U;
  }
  std::memcpy(element, &word, sizeof(word));
}

bool converts(const TileGeometry& tile) { return tile.type >= DataType::f32_ftz && !tile.bulk; }

// A chunk of an interleaved tile: its unit lies inside, or not, as a whole.
Chunk fetch_of_unit(const TileGeometry& tile, std::span<const std::uint8_t> source,
                    std::uint32_t index) {
  Chunk chunk;
  const Coordinates x = position_of(tile, index);
  const SourceRow row = source_row(tile, x);
  const std::int64_t at = coordinate(tile, 0, x[0]);
  const bool inside = row.inside && inside_inner(tile, at);
  if (inside)
    read(source, fetched_from(tile, row.offset + at * tile.pitch[0] + byte_in_unit(tile, index)),
         chunk.bytes.data(), kChunkBytes);
  else
    chunk.inside = 0;
  for (std::uint32_t byte = 0; byte < kChunkBytes; byte += tile.element) {
    if (!inside) fill_element(tile, chunk, byte);
    if (inside && converts(tile)) convert(tile, &chunk.bytes[byte]);
  }
  return chunk;
}

Chunk fetch(const TileGeometry& tile, std::span<const std::uint8_t> source, const Coordinates& x) {
  Chunk chunk;
  SourceRow row = source_row(tile, x);
  const std::uint32_t elements = kChunkBytes / tile.element;
  const std::int64_t at = coordinate(tile, 0, x[0]);
  const bool ends_inside = inside_inner(tile, at) && inside_inner(tile, at + elements - 1);
  if (tile.fault == kFaultUpperInnerByChunk && !ends_inside) row.inside = false;
  // Most chunks lie in one piece and wholly inside; going by element would cost ten times as much.
  if (row.inside && ends_inside && tile.step[0] == 1 && tile.pitch[0] == tile.element) {
    read(source, fetched_from(tile, row.offset + at * tile.pitch[0]), chunk.bytes.data(),
         kChunkBytes);
    if (converts(tile))
      for (std::uint32_t e = 0; e < elements; ++e) convert(tile, &chunk.bytes[e * tile.element]);
    return chunk;
  }
  chunk.inside = 0;
  for (std::uint32_t e = 0; e < elements; ++e) {
    const std::int64_t g = coordinate(tile, 0, x[0] + e);
    if (row.inside && (inside_inner(tile, g) || takes_channel(tile, g))) {
      read(source, fetched_from(tile, row.offset + g * tile.pitch[0]),
           &chunk.bytes[e * tile.element], tile.element);
      if (converts(tile)) convert(tile, &chunk.bytes[e * tile.element]);
      chunk.inside += tile.element;
    } else {
      fill_element(tile, chunk, e * tile.element);
    }
  }
  return chunk;
}

void break_data(const TileGeometry& tile, Chunk& chunk, bool last) {
  auto& bytes = chunk.bytes;
  if (tile.fault == kFaultBitFlipped && last && chunk.inside == kChunkBytes) bytes[5] ^= 0x08;
  if (tile.fault == kFaultBitStuck) bytes[15] &= 0x7f;
  if (tile.fault == kFaultChunkShifted && last)
    std::rotate(bytes.begin(), bytes.begin() + 1, bytes.end());
  if (tile.fault == kFaultWideHalvesExchanged && tile.element == 8)
    for (std::size_t i = 0; i < kChunkBytes; i += 8)
      std::swap_ranges(&bytes[i], &bytes[i] + 4, &bytes[i] + 4);
  if (tile.fault == kFaultFtzAsTf32 && tile.type == DataType::f32_ftz &&
      chunk.inside == kChunkBytes)
    for (std::size_t i = 0; i < kChunkBytes; i += 4) {
      bytes[i] = 0;  // the 13 mantissa bits that tf32 does not have
      bytes[i + 1] &= 0xe0;
    }
  if (tile.fault == kFaultU16BytesExchanged && tile.type == DataType::u16)
    for (std::size_t i = 0; i < kChunkBytes; i += 2) std::swap(bytes[i], bytes[i + 1]);
}

// What a hint or a source does not do, but for a fault.
void break_by_hint_and_source(const TileGeometry& tile, Chunk& chunk) {
  const auto hinted = [&](Fault fault, CacheHint hint) {
    return tile.fault == fault && tile.hint == hint;
  };
  if (hinted(kFaultEvictFirstDropsChunk, CacheHint::evict_first)) chunk.written = 0;
  if (hinted(kFaultEvictLastHalvesChunk, CacheHint::evict_last)) chunk.written = 0x00ff;
  if (hinted(kFaultEvictNormalFlipsBit, CacheHint::evict_normal)) chunk.bytes[0] ^= 0x01;
  if ((tile.fault == kFaultPinnedShort && tile.source == MemorySource::pinned) ||
      (tile.fault == kFaultColdShort && tile.cold))
    std::fill_n(&chunk.bytes[kChunkBytes - 4], 4, std::uint8_t{0});
}

}  // namespace

TileGeometry tile_geometry(const TileLoad& load, std::int64_t destination, Fault fault) {
  const TensorMapSpec& map = load.map;
  TileGeometry tile{.type = map.type,
                    .element = element_bytes(map.type),
                    .unit = unit_bytes(map),
                    .rank = map.rank,
                    .base = std::int64_t{kGuardBytes} + map.base_offset,
                    .swizzle = map.swizzle,
                    .fill = map.fill,
                    .bulk = map.bulk,
                    .hint = load.hint,
                    .source = load.source,
                    .cold = load.cold,
                    .destination = destination,
                    .row_pitch = row_pitch(map),
                    .fault = fault};
  for (std::uint32_t i = 0; i < map.rank; ++i) {
    tile.count[i] = tile_extent(map, i);
    tile.first[i] = load.at[i];
    tile.step[i] = traversal_step(map, i);
    tile.box[i] = spanned(map, i);
    tile.extent[i] = static_cast<std::int64_t>(map.extent[i]);
    tile.pitch[i] = i == 0 ? tile.unit : static_cast<std::int64_t>(map.stride[i - 1]);
  }
  if (fault == kFaultBulkTo128 && map.bulk) tile.destination -= tile.destination % 128;
  if (fault != kNoFault) break_geometry(tile, map, fault);
  if (map.im2col) tile.pixels = im2col_pixels(load, tile);
  return tile;
}

std::uint32_t chunk_count(const TileGeometry& tile) {
  std::uint32_t bytes = tile.unit;
  for (std::uint32_t i = 0; i < tile.rank; ++i) bytes *= tile.count[i];
  return bytes / kChunkBytes;
}

std::array<std::int64_t, kMaxRank> position_of(const TileGeometry& tile, std::uint32_t index) {
  Coordinates x{};
  const std::uint32_t per_row = tile.count[0] * tile.unit / kChunkBytes;
  x[0] = index % per_row * kChunkBytes / tile.unit;
  std::uint32_t row = index / per_row;
  for (std::uint32_t i = 1; i < tile.rank; ++i) {
    x[i] = row % tile.count[i];
    row /= tile.count[i];
  }
  return x;
}

std::uint32_t byte_in_unit(const TileGeometry& tile, std::uint32_t index) {
  const std::uint32_t byte = index * kChunkBytes % std::max(tile.unit, kChunkBytes);
  if (tile.fault == kFaultInterleaveHalvesExchanged && tile.unit > kChunkBytes)
    return kChunkBytes - byte;
  return byte;
}

// Address bits 4..6 are exchanged with bits 7..9 of the same address: the phase belongs to shared
// memory and not to the tile. PTX ISA 9.0, 5.5.7.
std::int64_t swizzled_address(const TileGeometry& tile, std::uint32_t index) {
  const std::uint32_t per_row = tile.count[0] * tile.unit / kChunkBytes;
  const std::int64_t linear = std::int64_t{tile.row_pitch} * (index / per_row) +
                              std::int64_t{kChunkBytes} * (index % per_row);
  const std::int64_t address = tile.destination + linear;
  if (tile.swizzle == Swizzle::none || tile.fault == kFaultSwizzleIgnored) return address;
  constexpr std::int64_t kUpper = kWindowAddress + kSharedBytesMax / 2;
  if (tile.fault == kFaultSwizzle32Upper && tile.swizzle == Swizzle::b32 && address >= kUpper)
    return address;
  std::int64_t mask = swizzle_bytes(tile.swizzle) / kChunkBytes - 1;
  if (tile.fault == kFaultSwizzleNarrower) mask >>= 1;
  if (tile.fault == kFaultSwizzleWider) mask = std::min<std::int64_t>(2 * mask + 1, 7);
  std::int64_t row = address >> 7;
  if (tile.fault == kFaultSwizzleRelative) row = linear >> 7;
  if (tile.fault == kFaultSwizzleRowShifted) row = address >> 8;
  if (tile.fault == kFaultSwizzlePlaneAnew && tile.rank >= 3) {
    const std::int64_t plane = std::int64_t{tile.unit} * tile.count[0] * tile.count[1];
    row = (tile.destination + linear % plane) >> 7;
  }
  return address ^ ((row & mask) << 4);
}

Chunk tile_chunk(const TileGeometry& tile, std::span<const std::uint8_t> source,
                 std::uint32_t index) {
  Chunk chunk = tile.unit >= kChunkBytes ? fetch_of_unit(tile, source, index)
                                         : fetch(tile, source, position_of(tile, index));
  chunk.address = swizzled_address(tile, index);
  if (tile.fault == kNoFault) return chunk;
  const std::uint32_t chunks = chunk_count(tile);
  break_data(tile, chunk, index + 1 == chunks);
  if (index + 1 == chunks) break_by_hint_and_source(tile, chunk);
  const bool last_of_odd = chunks % 2 == 1 && index + 1 == chunks;
  if (tile.fault == kFaultBulkOddPieceLost && tile.bulk && last_of_odd) chunk.written = 0;
  const std::int64_t in_row = position_of(tile, index)[0] * tile.unit;
  if (tile.fault == kFaultWideRowCut && !tile.bulk && in_row >= 1024) chunk.written = 0;
  const std::uint32_t row_chunks = tile.count[0] * tile.element / kChunkBytes;
  if (tile.fault == kFaultLastRowMissing && index + row_chunks >= chunks) chunk.written = 0;
  return chunk;
}

}  // namespace tidemark
