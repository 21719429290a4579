// Holds what a device left behind against what the oracle predicted.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/ops/tile_load.hpp"
#include "suite/oracle/expectation.hpp"
#include "suite/outcome.hpp"
#include "suite/room.hpp"

namespace tidemark::suite {

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

}  // namespace tidemark::suite
