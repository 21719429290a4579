// Finds the first wrong byte of each region and counts the rest.
#include "suite/oracle/region.hpp"

#include <fmt/format.h>

namespace tidemark::suite {

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

}  // namespace tidemark::suite
