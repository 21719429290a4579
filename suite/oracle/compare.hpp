// Holds what a device left behind against what the oracle predicted.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/ops/expect_tx.hpp"
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

/// The same for one or two windows and the accounts of their barriers: at most one Miscompare for
/// the window of block 1, and one for each line of each account that is promised and differs.
std::vector<Miscompare> compare(const ExpectTx& op, const Expectation& expected,
                                const RunResult& result, std::uint32_t row);

}  // namespace tidemark
