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

/// Adds a Miscompare "barrier: <line>" to `found` where the two values differ.
void compare_line(std::string_view line, std::string_view meaning, std::uint64_t expected,
                  std::uint64_t actual, std::uint32_t row, std::vector<Miscompare>& found);

/// Adds one for each line of the ledger that differs.
void compare_ledger(const BarrierLedger& expected, const BarrierLedger& actual, std::uint32_t row,
                    std::vector<Miscompare>& found);

/// Everything in `result` that `expected` does not say: at most one Miscompare for the tile and
/// one for its guards, one for the source and
/// one for each line of the barrier ledger. Empty when all
/// agrees. Miscompare::parameters is left to the caller.
std::vector<Miscompare> compare(const TileLoad& load, const Expectation& expected,
                                const RunResult& result, std::uint32_t row);

}  // namespace tidemark::suite
