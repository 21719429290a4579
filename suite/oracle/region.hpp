// Compares what came back region by region, where one result holds several memories.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "suite/outcome.hpp"

namespace tidemark::suite {

/// A stretch of the bytes that are compared.
struct Region {
  std::string what;  // Miscompare::what
  std::string name;  // for a person: "window of block 3"
  std::size_t begin = 0, end = 0;
};

/// What is wrong in `actual`: one Miscompare for each region that differs, or a single one where
/// the sizes do. The regions lie inside `expected`.
std::vector<Miscompare> compare_regions(const std::vector<Region>& regions,
                                        const std::vector<std::uint8_t>& expected,
                                        const std::vector<std::uint8_t>& actual, std::uint32_t row);

}  // namespace tidemark::suite
