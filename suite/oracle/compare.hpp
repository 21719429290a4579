// Holds what a device left behind against what the oracle predicted.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/ops/tile_consume.hpp"
#include "kernels/ops/tile_load.hpp"
#include "suite/oracle/expectation.hpp"
#include "suite/outcome.hpp"

namespace tidemark {

/// Says whether the little-endian `bits` of an element of `type` are a NaN. False for integers.
bool is_nan(DataType type, std::uint64_t bits);

/// Everything in `result` that `expected` does not say: at most one Miscompare for the tile, one
/// for its guards, one for the source and one for each line of the barrier ledger. Empty when all
/// agrees. Miscompare::parameters is left to the caller.
std::vector<Miscompare> compare(const TileLoad& load, const Expectation& expected,
                                const RunResult& result, std::uint32_t row);

/// At most one Miscompare for the result, one for each of its guards, one for the source and one
/// for each line of the barrier ledger.
std::vector<Miscompare> compare(const TileConsume& op, const Expectation& expected,
                                const RunResult& result, std::uint32_t row);

/// Adds what differs in the source allocation, for any operation that has one.
void compare_source(const Expectation& expected, const RunResult& result, std::uint32_t row,
                    std::vector<Miscompare>& found);

/// Adds every line of the barrier ledger that differs.
void compare_ledger(const BarrierLedger& expected, const BarrierLedger& actual, std::uint32_t row,
                    std::vector<Miscompare>& found);

}  // namespace tidemark
