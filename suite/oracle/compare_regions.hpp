// How bytes differ, and the miscompare that says so: what comparing has in common for all
// operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "suite/outcome.hpp"

namespace tidemark::suite {

using Bytes = std::vector<std::uint8_t>;

/// What a range of bytes got wrong.
struct Difference {
  std::size_t first = 0;    // offset of the first wrong byte
  std::uint64_t wrong = 0;  // how many are
};

/// What bytes `begin` to `end` got wrong, if anything.
std::optional<Difference> exact_difference(const Bytes& expected, const Bytes& actual,
                                           std::size_t begin, std::size_t end);

/// A miscompare of `what` at the first wrong byte; its text and coordinate are left to the caller.
Miscompare wrong_byte(std::string_view what, const Difference& difference, const Bytes& expected,
                      const Bytes& actual, std::uint32_t row);

/// A miscompare of `what`: the device gave another number of bytes for `region`.
Miscompare wrong_size(std::string_view what, std::string_view region, std::size_t expected,
                      std::size_t actual, std::uint32_t row);

}  // namespace tidemark::suite
