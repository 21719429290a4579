// Predicts a tile load by asking, for each place of the shared window, which source byte belongs
// there. Written from the PTX ISA and cuda.h, apart from every device.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/error.hpp"
#include "suite/oracle/encoder_rules.hpp"
#include "suite/oracle/expectation.hpp"
#include "suite/oracle/place.hpp"

namespace tidemark {
namespace {

constexpr std::uint32_t kChunk = 16;

std::vector<std::uint8_t> source_allocation(const TileLoad& load) {
  std::vector<std::uint8_t> source(source_allocation_bytes(load));
  for (std::uint64_t i = 0; i < source.size() / 4; ++i) {
    const std::uint32_t word = source_element_word(load, i);
    std::memcpy(&source[4 * i], &word, 4);
  }
  return source;
}

std::vector<std::uint8_t> poisoned_window(const TileLoad& load) {
  std::vector<std::uint8_t> window(window_bytes(load));
  for (std::uint32_t i = 0; i < window.size(); ++i) window[i] = poison_byte(load.payload, i);
  return window;
}

// What a load leaves of a 32-bit element by a map of f32_ftz, tf32 or tf32_ftz. Its source may hold
// any word: what a store or the poison left there. cuda.h names the types and says neither how tf32
// rounds nor what becomes of subnormal numbers and NaN, so that words which some rule changes are
// judged only where a row is held to the measurement (H100, driver 580.159.04, 2026-11, all 2^32
// words): f32_ftz changes nothing; tf32 and tf32_ftz round to ten mantissa bits, ties to even,
// subnormal numbers too, and every NaN becomes 0x7fffe000.
void convert(const TileLoad& load, std::uint32_t place, std::vector<std::uint8_t>& window,
             std::vector<Compare>& compare) {
  constexpr std::uint32_t kSign = 0x80000000U, kInfinity = 0x7f800000U, kNormal = 0x00800000U;
  constexpr std::uint32_t kLost = 0x1fffU, kHalf = 0x1000U, kLastKept = 0x2000U;
  std::uint32_t word = 0;
  std::memcpy(&word, &window[place], sizeof(word));
  const std::uint32_t magnitude = word & ~kSign;
  const bool rounds = load.map.type != DataType::f32_ftz;
  const bool subnormal = magnitude != 0 && magnitude<kNormal, nan = magnitude> kInfinity;
  if (load.map.bulk) return;  // which has no type: PTX ISA 9.0, 9.7.9.25.4.1
  if (!subnormal && !nan && !(rounds && (word & kLost) != 0)) return;
  if (load.held_to != HeldTo::measurement) {
    if (compare.empty()) compare.assign(window.size(), Compare::exact);
    std::fill_n(&compare[place], sizeof(word), Compare::recorded);
    return;
  }
  if (!rounds) return;
  const std::uint32_t rest = word & kLost;
  word -= rest;
  if (rest > kHalf || (rest == kHalf && (word & kLastKept) != 0)) word += kLastKept;
  if (nan) word = 0x7fffe000U;
  std::memcpy(&window[place], &word, sizeof(word));
}

// Pulls the 16 bytes at `place`. A chunk never crosses a row of the box, so only dimension 0 moves.
void pull_chunk(const TileLoad& load, std::uint32_t place, const Memory& source,
                std::vector<std::uint8_t>& window, std::vector<Compare>& compare) {
  const std::uint32_t size = element_bytes(load.map.type);
  const std::uint32_t first = unswizzled_byte(load, place);
  const TilePlace begin = element_at(load, first);
  if (begin.gap) return;
  if (!compare.empty()) std::fill_n(&compare[place], kChunk, Compare::exact);
  // Most chunks lie inside as a whole; element by element they would cost ten times as much.
  // A chunk of an interleaved map is of one unit.
  const std::int64_t behind = begin.element[0] + std::max(kChunk / bytes_counted(load.map), 1U);
  if (begin.inside && behind <= static_cast<std::int64_t>(load.map.extent[0])) {
    std::memcpy(&window[place], source.at(begin.source_offset), kChunk);
    if (load.map.type < DataType::f32_ftz) return;
    for (std::uint32_t byte = 0; byte < kChunk; byte += size)
      convert(load, place + byte, window, compare);
    return;
  }
  for (std::uint32_t byte = 0; byte < kChunk; byte += size) {
    const TilePlace from = element_at(load, first + byte);
    std::uint8_t* to = &window[place + byte];
    if (from.inside) {
      std::memcpy(to, source.at(from.source_offset), size);
      if (load.map.type >= DataType::f32_ftz) convert(load, place + byte, window, compare);
    } else if (load.map.fill == Fill::zero) {
      std::memset(to, 0, size);
    } else if (load.map.interleave != Interleave::none) {
      for (std::uint32_t i = 0; i < size; ++i) to[i] = i % 2 == 0 ? 0xf7 : 0x7f;  // as measured
    } else {
      std::memset(to, 0xff, size);  // a NaN in every floating type; which one is not documented
      for (std::uint32_t i = 0; i < size; ++i) compare[place + byte + i] = Compare::nan_element;
    }
  }
}

}  // namespace

void refuse_undocumented(const TileLoad& load) {
  const TensorMapSpec& map = load.map;
  if (map.bulk) return;  // what is sound is documented: PTX ISA 9.0, 9.7.9.25.4.1
  refuse_illegal_map(map);
  if (map.im2col) refuse_undocumented_pixels(load);
  refuse_interleave(map, load.held_to);
  refuse_part_of_swizzle(map, tile_start(load), tile_span(map));
  const bool in_units = map.interleave != Interleave::none;
  const std::uint32_t size = element_bytes(map.type);
  // PTX ISA 9.0, 9.7.13.15.2: the tx-count ends there, so that a larger tile cannot be announced.
  constexpr std::uint32_t kMostAnnounced = (1U << 20) - 1;
  if (tile_bytes(map) > kMostAnnounced)
    throw Error(
        fmt::format("a tile of {} bytes or more cannot be announced at once; take a smaller box",
                    tile_bytes(map)));
  const std::uint32_t inner = map.box[0] * size;
  const bool narrow = inner < swizzle_bytes(map.swizzle) && load.held_to == HeldTo::measurement;
  if (map.swizzle != Swizzle::none && inner != swizzle_bytes(map.swizzle) && !narrow && !in_units)
    throw Error(fmt::format(
        "how a {}-byte inner box row lies under a {}-byte swizzle is not documented; make them "
        "equal",
        inner, swizzle_bytes(map.swizzle)));
  if (!in_units && static_cast<std::int64_t>(load.at[0]) * size % kChunk != 0)
    throw Error(fmt::format("inner coordinate {} is off 16 bytes, which faults", load.at[0]));
  if (tile_start(load) % 128 != 0)
    throw Error(fmt::format("offset {}; take a multiple of 128", tile_start(load)));
}

void pull_tile(const TileLoad& load, const Memory& source, std::vector<std::uint8_t>& window,
               std::vector<Compare>& compare) {
  refuse_undocumented(load);
  if (load.map.fill == Fill::nan && compare.empty()) compare.assign(window.size(), Compare::exact);
  for (std::uint32_t offset = 0; offset < tile_span(load.map); offset += kChunk)
    pull_chunk(load, tile_start(load) + offset, source, window, compare);
}

Expectation predict(const TileLoad& load) {
  refuse_undocumented(load);
  Expectation expectation{
      .bytes = poisoned_window(load), .compare = {}, .surroundings = source_allocation(load)};
  pull_tile(load, expectation.surroundings, expectation.bytes, expectation.compare);
  return expectation;
}

}  // namespace tidemark
