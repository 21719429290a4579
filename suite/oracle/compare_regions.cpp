// How bytes differ, region by region, and the miscompare that says so.
#include "suite/oracle/compare_regions.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstring>
#include <string>

namespace tidemark::suite {

// Finds the first wrong byte of each region and counts the rest.

std::vector<Miscompare> compare_regions(const std::vector<Region>& regions,
                                        const std::vector<std::uint8_t>& expected,
                                        const std::vector<std::uint8_t>& actual,
                                        std::uint32_t row) {
  std::vector<Miscompare> found;
  if (expected.size() != actual.size()) {
    Miscompare miscompare;
    miscompare.row = row;
    miscompare.what = regions.empty() ? "byte" : regions.front().what;
    miscompare.expected = expected.size();
    miscompare.actual = actual.size();
    miscompare.text = fmt::format("expected {} bytes back from the device, got {}", expected.size(),
                                  actual.size());
    found.push_back(miscompare);
    return found;
  }
  for (const Region& region : regions) {
    Miscompare miscompare;
    for (std::size_t i = region.begin; i < region.end; ++i) {
      if (expected[i] == actual[i]) continue;
      if (miscompare.wrong_bytes++ == 0) miscompare.first_offset = i;
    }
    if (miscompare.wrong_bytes == 0) continue;
    miscompare.row = row;
    miscompare.what = region.what;
    miscompare.expected = expected[miscompare.first_offset];
    miscompare.actual = actual[miscompare.first_offset];
    miscompare.text =
        fmt::format("{}, byte {}: expected 0x{:02x}, got 0x{:02x}; {} of {} bytes are wrong",
                    region.name, miscompare.first_offset - region.begin, miscompare.expected,
                    miscompare.actual, miscompare.wrong_bytes, region.end - region.begin);
    found.push_back(miscompare);
  }
  return found;
}

// Finds the first wrong byte and counts the others.

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

}  // namespace tidemark::suite
