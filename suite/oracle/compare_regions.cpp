// Finds the first wrong byte and counts the others.
#include "suite/oracle/compare_regions.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstring>
#include <string>

namespace tidemark::suite {

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
