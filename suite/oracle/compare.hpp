// Holds what a device left behind against what the oracle predicted.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/ops/tile_load.hpp"
#include "suite/oracle/expectation.hpp"
#include "suite/outcome.hpp"

namespace tidemark {

/// Says whether the little-endian `bits` of an element of `type` are a NaN. False for integers.
bool is_nan(DataType type, std::uint64_t bits);

/// Adds a Miscompare "barrier: <line>" to `found` where the two values differ.
void compare_line(std::string_view line, std::string_view meaning, std::uint64_t expected,
                  std::uint64_t actual, std::uint32_t row, std::vector<Miscompare>& found);

/// Adds one for each line of the ledger that differs; `phases` is left to the caller.
void compare_ledger(const BarrierLedger& expected, const BarrierLedger& actual, std::uint32_t row,
                    std::vector<Miscompare>& found);

/// Everything in `result` that `expected` does not say: at most one Miscompare for the tile, one
/// for its guards, one for the source and one for each line of the barrier ledger. Empty when all
/// agrees. Miscompare::parameters is left to the caller.
std::vector<Miscompare> compare(const TileLoad& load, const Expectation& expected,
                                const RunResult& result, std::uint32_t row);

}  // namespace tidemark
