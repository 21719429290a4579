// Holds what a device left behind against what the oracle predicted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/ops/tile_load.hpp"
#include "suite/oracle/expectation.hpp"
#include "suite/outcome.hpp"

namespace tidemark {

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

/// Says whether the little-endian `bits` of an element of `type` are a NaN. False for integers.
bool is_nan(DataType type, std::uint64_t bits);

/// Adds what differs in a shared window that `tiles` landed in, later ones over earlier ones: at
/// most one Miscompare for each tile and one for what lies in none.
void compare_window(std::span<const TileLoad> tiles, Expectation expected,
                    const std::vector<std::uint8_t>& window, std::uint32_t row,
                    std::vector<Miscompare>& found);

/// Adds what differs in the source allocation, for any operation that has one.
void compare_source(const Expectation& expected, const RunResult& result, std::uint32_t row,
                    std::vector<Miscompare>& found);

}  // namespace tidemark
