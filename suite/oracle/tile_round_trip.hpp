// What a tile round trip must leave behind.
#pragma once

#include "kernels/ops/tile_round_trip.hpp"
#include "suite/oracle/expectation.hpp"
#include "suite/outcome.hpp"
#include "suite/room.hpp"

namespace tidemark::suite {

/// Pulls every byte of the destination and of the shared windows: which tile reaches here, which
/// place of shared memory was it stored from, which source byte was loaded there, and what did the
/// threads add? PTX ISA 9.0, 5.5 and 9.7.9.25.5.2. Throws Error for what documents leave open:
/// stores that overlap, cut a row off 16 bytes, or start before the tensor; sums that are not
/// exact; types that a copy may convert.
Expectation predict(const TileRoundTrip& trip);

/// Everything in `result` that `expected` does not say: at most one Miscompare for each stretch of
/// the destination, each window, the source, and each line of the ledger.
std::vector<Miscompare> compare(const TileRoundTrip& trip, const Expectation& expected,
                                const RunResult& result, std::uint32_t row);

}  // namespace tidemark::suite
