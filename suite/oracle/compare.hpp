// Holds what a device left behind against what the oracle predicted.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/ops/multicast_load.hpp"
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

/// The same for each block of a cluster; offsets count through all windows. What was written into a
/// block outside the mask is a "canary". The source is compared once.
std::vector<Miscompare> compare(const MulticastLoad& multicast, const Expectation& expected,
                                const RunResult& result, std::uint32_t row);

}  // namespace tidemark
