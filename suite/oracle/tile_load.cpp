// Predicts a tile load by asking, for each place of the shared window, which source byte belongs
// there. Written from the PTX ISA and cuda.h, apart from every device.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/error.hpp"
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

// Which tensor maps there can be, as the oracle knows it: apart from the rules of the devices.

namespace {

using Spec = const TensorMapSpec&;
using Number = std::int64_t;

enum class Of : std::uint8_t { map, all, outer, image };  // dimensions

struct Rule {
  std::string_view parameter;  // of cuda.h
  std::string_view value;
  std::string_view takes;
  Of of;
  Number (*read)(Spec, std::uint32_t);
  bool (*allows)(Spec, Number);
};

bool of_32(Spec map) { return map.interleave == Interleave::b32; }

Number bounded(std::uint64_t value) {
  return static_cast<Number>(std::min(value, std::uint64_t{1} << 62));
}
Number rank(Spec map, std::uint32_t) { return map.rank; }
Number base(Spec map, std::uint32_t) { return map.base_offset; }
Number extent(Spec map, std::uint32_t i) { return bounded(map.extent[i]); }
Number stride(Spec map, std::uint32_t i) { return bounded(map.stride[i - 1]); }
Number box(Spec map, std::uint32_t i) { return map.box[i]; }
Number pixels(Spec map, std::uint32_t) { return map.box[1]; }
Number inner(Spec map, std::uint32_t) { return Number{map.box[0]} * element_bytes(map.type); }
Number step(Spec map, std::uint32_t i) { return map.element_stride[i]; }
Number swizzle(Spec map, std::uint32_t) { return swizzle_bytes(map.swizzle); }
Number type(Spec map, std::uint32_t) { return static_cast<Number>(map.type); }
Number lower(Spec map, std::uint32_t i) { return map.lower_corner[i - 1]; }
Number upper(Spec map, std::uint32_t i) { return map.upper_corner[i - 1]; }
Number across(Spec map, std::uint32_t i) { return extent(map, i) + upper(map, i) - lower(map, i); }

template <Number kMost>
bool up_to(Spec, Number value) {
  return value >= 1 && value <= kMost;
}
bool legal_rank(Spec map, Number value) {
  return value >= (map.im2col || map.interleave != Interleave::none ? 3 : 1) && value <= kMaxRank;
}
bool on_16(Spec, Number value) { return value % 16 == 0; }
bool on_32(Spec map, Number value) { return !of_32(map) || value % 32 == 0; }
bool legal_stride(Spec, Number value) { return value % 16 == 0 && value < Number{1} << 40; }
bool legal_box(Spec map, Number value) { return map.im2col || up_to<256>(map, value); }
bool legal_channels(Spec map, Number value) { return !map.im2col || up_to<256>(map, value); }
bool legal_pixels(Spec map, Number value) { return !map.im2col || up_to<1024>(map, value); }
bool in_swizzle(Spec map, Number value) {
  const bool swizzled = map.interleave == Interleave::none && map.swizzle != Swizzle::none;
  return !swizzled || value <= swizzle(map, 0);
}
bool swizzle_of_32(Spec map, Number value) { return !of_32(map) || value == 32; }
bool can_be_nan(Spec map, Number) { return map.fill != Fill::nan || is_floating(map.type); }
bool legal_corner(Spec map, Number value) {
  const Number end = map.rank == 3 ? 32768 : map.rank == 4 ? 128 : 16;
  return !map.im2col || (value >= -end && value < end);
}
bool has_pixel(Spec map, Number value) { return !map.im2col || value >= 1; }

constexpr std::string_view kExtents =
    "1 to 2^32, of which H200s end the process above 2^31; take up to that";

constexpr Rule kRules[] = {
    {"tensorRank", "rank", "1 to 5, from 3 on with interleave or im2col", Of::map, rank,
     legal_rank},
    {"globalAddress", "base_offset", "multiples of 16", Of::map, base, on_16},
    {"globalAddress", "base_offset", "multiples of 32 for units of 32", Of::map, base, on_32},
    {"globalDim", "extent", kExtents, Of::all, extent, up_to<Number{1} << 31>},
    {"globalStrides", "stride", "multiples of 16 below 2^40", Of::outer, stride, legal_stride},
    {"globalStrides", "stride", "multiples of 32 for units of 32", Of::outer, stride, on_32},
    {"boxDim", "box", "1 to 256", Of::all, box, legal_box},
    {"boxDim", "inner box bytes", "multiples of 16", Of::map, inner, on_16},
    {"channelsPerPixel", "channels", "1 to 256", Of::map, box, legal_channels},
    {"pixelsPerColumn", "pixels", "1 to 1024", Of::map, pixels, legal_pixels},
    {"elementStrides", "element stride", "1 to 8", Of::all, step, up_to<8>},
    {"interleave", "inner box bytes", "those of the swizzle at most", Of::map, inner, in_swizzle},
    {"swizzle", "swizzle of", "that of 32 for units of 32", Of::map, swizzle, swizzle_of_32},
    {"oobFill", "NaN fill of data type", "that of floating ones", Of::map, type, can_be_nan},
    {"pixelBoxLowerCorner", "lower corner", "what its bits hold", Of::image, lower, legal_corner},
    {"pixelBoxUpperCorner", "upper corner", "what its bits hold", Of::image, upper, legal_corner},
    {"pixelBoxUpperCorner", "bounding box pixels", "1 and up", Of::image, across, has_pixel},
};

}  // namespace

void refuse_illegal_map(const TensorMapSpec& map, std::string_view place) {
  if (map.bulk) return;
  for (const Rule& rule : kRules) {
    const std::uint32_t behind = rule.of == Of::map ? 1 : map.rank - (rule.of == Of::image ? 1 : 0);
    for (std::uint32_t i = rule.of <= Of::all ? 0 : 1; i < behind; ++i)
      if (const Number value = rule.read(map, i); !rule.allows(map, value))
        throw Error(fmt::format("{}{} {}{}; cuda.h, {}, takes {}", place, rule.value, value,
                                rule.of == Of::map ? "" : fmt::format(" of dimension {}", i),
                                rule.parameter, rule.takes));
  }
}

}  // namespace tidemark
