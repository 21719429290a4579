// Finds the first wrong byte of each region and says in words where it is and whose it is.
#include "suite/oracle/compare.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "suite/oracle/place.hpp"

namespace tidemark {
namespace {

constexpr std::size_t kChunk = 16;

std::uint64_t element_bits(const Bytes& bytes, std::size_t offset, std::size_t size) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &bytes[offset], size);
  return bits;
}

// The tile, where elements outside the tensor may hold any NaN. A NaN can be judged only whole, and
// an element never straddles two chunks, so elements are contiguous under every swizzle.
std::optional<Difference> tile_difference(const TileLoad& load, const Expectation& expected,
                                          const Bytes& actual, std::size_t begin, std::size_t end) {
  if (expected.compare.empty()) return exact_difference(expected.bytes, actual, begin, end);
  const std::size_t size = element_bytes(load.map.type);
  Difference difference;
  for (std::size_t i = begin; i < end; i += size) {
    const bool any_nan = expected.compare[i] == Compare::nan_element;
    for (std::size_t j = i; j < i + size; ++j) {
      const bool right = any_nan ? is_nan(load.map.type, element_bits(actual, i, size))
                                 : expected.bytes[j] == actual[j];
      if (right) continue;
      if (difference.wrong++ == 0) difference.first = j;
    }
  }
  if (difference.wrong == 0) return {};
  return difference;
}

std::string coordinates_text(const TileLoad& load, const TilePlace& place) {
  std::string text = "(";
  for (std::uint32_t i = 0; i < load.map.rank; ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", place.element[i]);
  return text + ")";
}

// Source bytes are a hash of their address, so the chunk that was found names the place it is from.
std::string origin_text(const TileLoad& load, const Expectation& expected, const Bytes& actual,
                        std::size_t offset) {
  const std::size_t chunk = offset / kChunk * kChunk;
  bool untouched = true;
  for (std::size_t i = chunk; i < chunk + kChunk; ++i)
    untouched = untouched && actual[i] == (poison_byte(load.payload, i) ^ expected.poison_twist);
  if (untouched) return "; the 16 bytes there are still poison";
  if (std::all_of(&actual[chunk], &actual[chunk] + kChunk, [](auto byte) { return byte == 0; }))
    return "; the 16 bytes there are zero";
  const std::string_view source(reinterpret_cast<const char*>(expected.surroundings.data()),
                                expected.surroundings.size());
  const std::string_view found(reinterpret_cast<const char*>(&actual[chunk]), kChunk);
  const std::size_t at = source.find(found);
  if (at == std::string_view::npos) return "";
  const auto from_tensor =
      static_cast<std::int64_t>(at) - static_cast<std::int64_t>(kGuardBytes + load.map.base_offset);
  return fmt::format("; the 16 bytes there stand {} bytes into the tensor", from_tensor);
}

Miscompare wrong_tile(const TileLoad& load, const Expectation& expected, const Bytes& actual,
                      const Difference& difference, std::uint32_t row) {
  Miscompare miscompare = wrong_byte("byte", difference, expected.bytes, actual, row);
  const auto offset = static_cast<std::uint32_t>(difference.first);
  const TilePlace place = element_at(load, unswizzled_byte(load, offset));
  miscompare.coordinate = place.element;
  const std::size_t size = element_bytes(load.map.type);
  const std::size_t element = offset / size * size;
  const bool any_nan =
      !expected.compare.empty() && expected.compare[offset] == Compare::nan_element;
  const std::string wanted =
      any_nan ? "a NaN"
              : fmt::format("0x{:0{}x}", element_bits(expected.bytes, element, size), 2 * size);
  if (place.gap) {
    miscompare.text = fmt::format(
        "byte {} of the tile, in the gap behind a row: expected poison 0x{:02x}, got 0x{:02x}; {} "
        "of {} tile bytes are wrong",
        offset - tile_start(load), miscompare.expected, miscompare.actual, difference.wrong,
        tile_span(load.map));
    return miscompare;
  }
  miscompare.text = fmt::format(
      "{} element {} ({} the tensor), byte {} of the tile: expected {}, got 0x{:0{}x}{}; {} of {} "
      "tile bytes are wrong",
      name_of(load.map.type), coordinates_text(load, place), place.inside ? "in" : "outside",
      offset - tile_start(load), wanted, element_bits(actual, element, size), 2 * size,
      origin_text(load, expected, actual, offset), difference.wrong, tile_span(load.map));
  return miscompare;
}

struct TileRange {
  std::size_t begin = 0, end = 0;  // in the window
};

TileRange range_of(const TileLoad& load) {
  const std::size_t begin = tile_start(load);
  return {.begin = begin, .end = begin + tile_span(load.map)};
}

// A byte that lies in none of the tiles.
Miscompare wrong_guard(std::span<const TileLoad> tiles, const Difference& guard,
                       const Expectation& expected, const Bytes& window, std::uint32_t row) {
  Miscompare miscompare = wrong_byte("guard", guard, expected.bytes, window, row);
  TileRange tile = range_of(tiles.back());
  for (const TileLoad& other : tiles)
    if (guard.first >= range_of(other).end) tile = range_of(other);
  const bool is_before = guard.first < tile.begin;
  miscompare.text = fmt::format(
      "guard byte {} bytes {} the tile was overwritten: expected 0x{:02x}, got 0x{:02x}; {} guard "
      "bytes are wrong",
      is_before ? tile.begin - guard.first : guard.first - tile.end + 1,
      is_before ? "before" : "behind", miscompare.expected, miscompare.actual, guard.wrong);
  return miscompare;
}

}  // namespace

void compare_window(std::span<const TileLoad> tiles, Expectation expected, const Bytes& window,
                    std::uint32_t row, std::vector<Miscompare>& found) {
  const std::size_t size = expected.bytes.size();
  if (window.size() != size) {
    found.push_back(wrong_size("byte", "shared window", size, window.size(), row));
    return;
  }
  Bytes rest = window;  // of which what is told already is set right
  for (std::size_t i = tiles.size(); i-- > 0;) {
    const auto [begin, end] = range_of(tiles[i]);
    if (const auto tile = tile_difference(tiles[i], expected, rest, begin, end))
      found.push_back(wrong_tile(tiles[i], expected, rest, *tile, row));
    std::copy(&expected.bytes[begin], &expected.bytes[end], &rest[begin]);
    // An older tile below may be of another type, which has no NaN or one of another size.
    if (!expected.compare.empty())
      std::fill_n(&expected.compare[begin], end - begin, Compare::exact);
  }
  if (const auto guard = exact_difference(expected.bytes, rest, 0, size))
    found.push_back(wrong_guard(tiles, *guard, expected, rest, row));
}

void compare_source(const Expectation& expected, const RunResult& result, std::uint32_t row,
                    std::vector<Miscompare>& found) {
  const std::size_t size = expected.surroundings.size();
  if (result.surroundings.size() != size) {
    found.push_back(
        wrong_size("source", "source allocation", size, result.surroundings.size(), row));
    return;
  }
  const auto source = exact_difference(expected.surroundings, result.surroundings, 0, size);
  if (!source) return;
  Miscompare miscompare =
      wrong_byte("source", *source, expected.surroundings, result.surroundings, row);
  miscompare.text = fmt::format(
      "the load changed its source: byte {} of the allocation was 0x{:02x}, is 0x{:02x}; {} bytes "
      "are wrong",
      source->first, miscompare.expected, miscompare.actual, source->wrong);
  found.push_back(miscompare);
}

bool is_nan(DataType type, std::uint64_t bits) {
  // Below the sign: all exponent bits set and a mantissa that is not zero, so above infinity.
  switch (type) {
    case DataType::f16:
      return (bits & 0x7fffU) > 0x7c00U;
    case DataType::bf16:
      return (bits & 0x7fffU) > 0x7f80U;
    case DataType::f32:
    case DataType::f32_ftz:
    case DataType::tf32:
    case DataType::tf32_ftz:
      return (bits & 0x7fffffffU) > 0x7f800000U;
    case DataType::f64:
      return (bits & 0x7fffffffffffffffU) > 0x7ff0000000000000U;
    default:
      return false;
  }
}

std::optional<Difference> exact_difference(const Bytes& expected, const Bytes& actual,
                                           std::size_t begin, std::size_t end) {
  if (begin == end || std::memcmp(&expected[begin], &actual[begin], end - begin) == 0) return {};
  Difference difference;
  for (std::size_t i = end; i-- > begin;)
    if (expected[i] != actual[i]) {
      difference.first = i;
      ++difference.wrong;
    }
  return difference;
}

Miscompare wrong_byte(std::string_view what, const Difference& difference, const Bytes& expected,
                      const Bytes& actual, std::uint32_t row) {
  return {.row = row,
          .parameters = {},
          .what = std::string(what),
          .coordinate = {},
          .first_offset = difference.first,
          .wrong_bytes = difference.wrong,
          .expected = expected[difference.first],
          .actual = actual[difference.first],
          .text = {}};
}

Miscompare wrong_size(std::string_view what, std::string_view region, std::size_t expected,
                      std::size_t actual, std::uint32_t row) {
  return {.row = row,
          .parameters = {},
          .what = std::string(what),
          .coordinate = {},
          .first_offset = std::min(expected, actual),
          .wrong_bytes = expected > actual ? expected - actual : actual - expected,
          .expected = expected,
          .actual = actual,
          .text = fmt::format("{}: expected {} bytes back from the device, got {}", region,
                              expected, actual)};
}

}  // namespace tidemark
