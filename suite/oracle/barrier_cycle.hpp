// What a barrier cycle must leave behind.
#pragma once

#include "kernels/ops/barrier_cycle.hpp"
#include "suite/oracle/expectation.hpp"
#include "suite/outcome.hpp"
#include "suite/room.hpp"

namespace tidemark::suite {

/// Each phase brings its box, none completes before its last arrival, and memory that is no barrier
/// any more keeps what is stored there. PTX ISA 9.0, 9.7.13.15. Throws Error where documents leave
/// the load open.
Expectation predict(const BarrierCycle& cycle);

/// Everything in `result` that `expected` does not say: at most one Miscompare for each phase's
/// window, each plain word, the source, and each line of the ledger.
std::vector<Miscompare> compare(const BarrierCycle& cycle, const Expectation& expected,
                                const RunResult& result, std::uint32_t row);

}  // namespace tidemark::suite
