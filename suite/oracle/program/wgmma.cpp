// Tiles that threads read and move. wgmma as the oracle has it: each element of an operand is
// looked up in the window where the layouts and tables of the PTX ISA put it, and C is the exact
// sum of products.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>
#include <vector>

#include "suite/oracle/place.hpp"
#include "suite/oracle/program/walk.hpp"

namespace tidemark {
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

// PTX ISA 9.0, 9.7.15.5.1.2.2: without a swizzle the field is not valid, and a pattern that starts
// where patterns do has base offset 0 and no other.
void refuse_base_offset(const Walk& walk, const WgmmaOperand& operand) {
  const std::uint32_t period = chunks_a_row(operand.read_as);
  if (operand.base_offset != 0 && operand.base_offset % period == 0)
    walk.refuse(fmt::format("base offset {} means nothing in a pattern of {} rows",
                            operand.base_offset, period));
}

// Bytes of the window that a copy wrote, and that are certain.
std::vector<bool> copied(const ExpectedWindow& window) {
  std::vector<bool> copied(window.bytes.size());
  for (const TileLoad& tile : window.tiles) {
    const Part part = part_of(tile);
    std::fill(copied.begin() + part.begin, copied.begin() + part.end, true);
  }
  for (std::size_t i = 0; i < window.compare.size(); ++i)
    copied[i] = copied[i] && window.compare[i] == Compare::exact;
  return copied;
}

// One operand as its descriptors find it: element (mn, k) at [mn * product.k + k]. PTX ISA 9.0,
// 9.7.15.5.1.2; 5.5.7. An H200 (driver 580.159.04, 2026-11) reads so, base offsets off the
// pattern's boundary included: consume.mismatch and consume.base_offset in
// ci/baselines/h200-nightly.h5.
std::vector<std::int64_t> found_by_descriptors(const Walk& walk, const Wgmma& product,
                                               GemmOperand which, const ExpectedWindow& window,
                                               Part c) {
  const std::map<std::uint32_t, std::int64_t> integers = integers_by_bits(product.type);
  const std::vector<bool> known = copied(window);
  const WgmmaOperand& operand = operand_of(product, which);
  const std::uint32_t size = element_bytes(product.type), depth = step_elements(product.type);
  std::vector<std::int64_t> values;
  for (std::uint32_t mn = 0; mn < mn_of(product, which); ++mn)
    for (std::uint32_t k = 0; k < product.k; ++k) {
      const bool k_major = operand.major == Major::k;
      const std::uint32_t inner = (k_major ? k % depth : mn) * size;
      const std::uint32_t row = k_major ? mn : k % depth;
      const MatrixDescriptor d = descriptor(product, which, k / depth, operand.offset);
      const std::uint32_t place =
          place_of_chunk(d, operand.major, inner / kChunk, row) + inner % kChunk;
      if (place >= known.size() || !known[place])
        walk.refuse(fmt::format(
            "a descriptor leads to byte {} of the window, to which no copy "
            "brings certain bytes; take a larger tile, or have the other operand read so",
            place));
      if (place >= c.begin && place < c.end)
        walk.refuse("a descriptor leads to C, which a warp may have written; take other bytes");
      std::uint32_t bits = 0;
      std::memcpy(&bits, &window.bytes[place], size);
      const auto found = integers.find(bits);
      if (found == integers.end())
        walk.refuse(fmt::format("{:#x} is none of the integers of {}; fill the region with them",
                                bits, name_of(product.type)));
      values.push_back(found->second);
    }
  return values;
}

std::uint32_t as_stored(MmaType type, std::int64_t sum) {
  if (type == MmaType::s8 || type == MmaType::u8) return static_cast<std::uint32_t>(sum);
  const auto value = static_cast<float>(sum);  // below 2^24, so exact
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, 4);
  return bits;
}

}  // namespace

void wgmma(Walk& walk, const Step& step, std::uint32_t rank) {
  const Wgmma& product = walk.program.products[step.product];
  for (const WgmmaOperand* operand : {&product.a, &product.b}) refuse_base_offset(walk, *operand);
  // Descriptors may lead anywhere.
  refuse_landing(walk, rank, 0, walk.program.window);
  refuse_unfenced(walk, rank, 0, walk.program.window);
  ExpectedWindow& window = walk.ctas[rank].window;
  const Part c{step.offset, step.offset + product_bytes(product)};
  const auto a = found_by_descriptors(walk, product, GemmOperand::a, window, c);
  const auto b = found_by_descriptors(walk, product, GemmOperand::b, window, c);
  touch(walk, rank, step.offset, product_bytes(product));
  walk.ctas[rank].touched.push_back({0, walk.program.window});  // as far as descriptors lead
  std::uint8_t* to = &window.bytes[step.offset];
  for (std::size_t i = 0; i < 64; ++i)
    for (std::size_t j = 0; j < product.n; ++j, to += 4) {
      std::int64_t sum = 0;
      for (std::size_t k = 0; k < product.k; ++k)
        sum += a[i * product.k + k] * b[j * product.k + k];
      const std::uint32_t bits = as_stored(product.type, sum);
      std::memcpy(to, &bits, 4);
    }
  overwrite(window, c);
  window.products.push_back({.number = step.product, .part = c});
}

// Chunks of tiles that threads move: the row and column of the matrix say which, and the tables of
// the PTX ISA where each stands.

namespace {

// A matrix of chunks in the window, rows `pitch` bytes apart, or group by group where it is 0.
struct Chunks {
  const TensorMapSpec& map;
  std::uint32_t begin = 0, pitch = 0;

  std::uint32_t rows() const { return map.box[1]; }
  std::uint32_t in_group() const { return map.box[0] * element_bytes(map.type) / kChunk; }
  std::uint32_t columns() const { return in_group() * map.box[2]; }
  std::uint32_t bytes() const { return rows() * columns() * kChunk; }

  // PTX ISA 9.0, 5.5.7.
  std::uint32_t place(std::uint32_t row, std::uint32_t column) const {
    const std::uint32_t group = column / in_group(), within = column % in_group();
    const std::uint32_t plain =
        begin + (pitch != 0 ? row * pitch + column * kChunk
                            : ((group * rows() + row) * in_group() + within) * kChunk);
    const std::uint32_t chunk = plain % kRow / kChunk;
    return plain / kRow * kRow + swizzled_chunk(map.swizzle, plain / kRow % 8, chunk) * kChunk +
           plain % kChunk;
  }
};

// Nothing may come to what is read, and no byte of it may be open. Others may write there only when
// the CTAs have met.
void read(Walk& walk, std::uint32_t rank, const Chunks& from) {
  refuse_landing(walk, rank, from.begin, from.bytes());
  refuse_unknown(walk, rank, from.begin, from.bytes());
  walk.ctas[rank].touched.push_back({from.begin, from.begin + from.bytes()});
}

}  // namespace

void place_rows(Walk& walk, const Step& step, std::uint32_t rank) {
  const TensorMapSpec& map = walk.program.maps[step.map].spec;
  const Chunks from{.map = map, .begin = step.offset};
  const Chunks to{.map = map,
                  .begin = static_cast<std::uint32_t>(step.at[0]),
                  .pitch = from.columns() * kChunk};
  read(walk, rank, from);
  touch(walk, rank, to.begin, to.bytes());
  ExpectedWindow& window = walk.ctas[rank].window;
  for (std::uint32_t row = 0; row < from.rows(); ++row)
    for (std::uint32_t column = 0; column < from.columns(); ++column)
      std::memcpy(&window.bytes[to.place(row, column)], &window.bytes[from.place(row, column)],
                  kChunk);
  overwrite(window, {to.begin, to.begin + to.bytes()});
}

void read_columns(Walk& walk, const Step& step, std::uint32_t rank) {
  const Chunks from{
      .map = walk.program.maps[step.map].spec, .begin = step.offset, .pitch = step.stride};
  const auto to = static_cast<std::uint32_t>(step.at[0]);
  const auto first = static_cast<std::uint32_t>(step.at[1]);
  const Part written{to, to + 32 * kChunk};
  read(walk, rank, from);
  touch(walk, rank, to, 32 * kChunk);
  ExpectedWindow& window = walk.ctas[rank].window;
  for (std::uint32_t lane = 0; lane < 32; ++lane)
    std::memcpy(&window.bytes[to + lane * kChunk],
                &window.bytes[from.place(lane % from.rows(), first + lane / from.rows())], kChunk);
  overwrite(window, written);
  window.lanes.push_back({.rows = from.rows(), .first_column = first, .part = written});
}

}  // namespace tidemark
