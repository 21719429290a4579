// Walks from elements of an operand to shared memory by the layouts and tables of the PTX ISA.
#include "suite/oracle/consumed_shared.hpp"

#include <cstring>
#include <map>

#include <fmt/format.h>

#include "kernels/error.hpp"
#include "suite/oracle/expectation.hpp"
#include "suite/oracle/place.hpp"

namespace tidemark::suite {
namespace {

constexpr std::uint32_t kChunk = 16, kRow = 128, kPatternRows = 8;

// PTX ISA 9.0, 9.7.15.5.1.2.1.3: chunks side by side in a row of each canonical layout.
std::uint32_t chunks_a_row(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::none:
      return 1;
    case Swizzle::b32:
      return 2;
    case Swizzle::b64:
      return 4;
    case Swizzle::b128:
      break;
  }
  return 8;
}

// The canonical layouts of 9.7.15.5.1.2.1.3, in bytes: where the chunk lies before the swizzle.
// `column` counts chunks along the contiguous dimension, `row` is an index of the other one.
std::uint32_t unswizzled_place(const MatrixDescriptor& d, Major major, std::uint32_t column,
                               std::uint32_t row) {
  const std::uint32_t width = chunks_a_row(d.swizzle);
  const bool plain = d.swizzle == Swizzle::none;
  const std::uint32_t in_group = d.start + row % 8 * width * kChunk;
  if (major == Major::k)
    return in_group + row / 8 * d.stride + column * (plain ? d.leading : kChunk);
  return in_group + row / 8 * (plain ? d.leading : d.stride) + column % width * kChunk +
         column / width * (plain ? d.stride : d.leading);
}

std::uint32_t place_of_chunk(const MatrixDescriptor& d, Major major, std::uint32_t column,
                             std::uint32_t row) {
  const std::uint32_t place = unswizzled_place(d, major, column, row);
  // The pattern starts `base_offset` rows behind its boundary: 9.7.15.5.1.2.2.
  const std::uint32_t pattern_row = (place / kRow + kPatternRows - d.base_offset) % kPatternRows;
  const std::uint32_t chunk = place / kChunk % (kRow / kChunk);
  return place / kRow * kRow + swizzled_chunk(d.swizzle, pattern_row, chunk) * kChunk;
}

// The integers that the elements of the source stand for, by their bits.
std::map<std::uint32_t, std::int64_t> integers_by_bits(MmaType type) {
  std::map<std::uint32_t, std::int64_t> integers;
  for (std::uint32_t raw = 0; raw < 256; ++raw)
    integers[bits_of(type, integer_of(type, raw))] = integer_of(type, raw);
  return integers;
}

std::uint32_t bits_at(const TileConsume& op, const LoadedTiles& tiles, std::uint32_t place) {
  if (place >= tiles.written.size() || !tiles.written[place])
    throw Error(
        fmt::format("tile consume: a descriptor leads to byte {} of the window, which no copy "
                    "writes; take a larger tile, or have the other operand read so",
                    place));
  std::uint32_t bits = 0;
  std::memcpy(&bits, &tiles.bytes[place], element_bytes(op.type));
  return bits;
}

}  // namespace

LoadedTiles loaded_tiles(const TileConsume& op, const std::vector<std::uint8_t>& source) {
  LoadedTiles tiles{.bytes = std::vector<std::uint8_t>(window_bytes(op)),
                    .written = std::vector<bool>(window_bytes(op))};
  std::vector<Compare> compare;
  for (const GemmOperand which : {GemmOperand::a, GemmOperand::b})
    for (std::uint32_t box = 0; box < box_count(op, which); ++box) {
      const TileLoad load = box_load(op, which, box);
      pull_tile(load, source, tiles.bytes, compare);
      for (std::uint32_t i = 0; i < box_bytes(op, which); ++i)
        tiles.written[tile_start(load) + i] = true;
    }
  return tiles;
}

std::vector<std::int64_t> found_by_descriptors(const TileConsume& op, GemmOperand which,
                                               const LoadedTiles& tiles) {
  const std::map<std::uint32_t, std::int64_t> integers = integers_by_bits(op.type);
  const Major major = operand_of(op, which).major;
  const std::uint32_t size = element_bytes(op.type);
  std::vector<std::int64_t> values;
  for (std::uint32_t mn = 0; mn < mn_of(op, which); ++mn)
    for (std::uint32_t k = 0; k < op.k; ++k) {
      const std::uint32_t step = k / step_elements(op.type), in_step = k % step_elements(op.type);
      const std::uint32_t inner = (major == Major::k ? in_step : mn) * size;
      const std::uint32_t row = major == Major::k ? mn : in_step;
      const MatrixDescriptor d = descriptor(op, which, step, tile_offset(op, which));
      const std::uint32_t place = place_of_chunk(d, major, inner / kChunk, row) + inner % kChunk;
      values.push_back(integers.at(bits_at(op, tiles, place)));
    }
  return values;
}

}  // namespace tidemark::suite
