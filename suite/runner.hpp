// How a row is prepared and judged: the parts of run_case that the checks of the suite use alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/device.hpp"
#include "kernels/ops/op.hpp"
#include "suite/outcome.hpp"

namespace tidemark {

/// `op` as row `row` runs it: payload or seed made from the case's seed and the row's index alone,
/// so that one row can be run without the others. `inverted` says which of its two runs.
Op seeded(Op op, std::uint64_t case_seed, std::uint32_t row, bool inverted = false);

/// How often a row runs: twice with opposite payload bits where every byte is compared exactly.
std::uint32_t runs_of(Op op);

/// Runs `op` on `device`, as a program with its checks where it is one.
RunResult run_op(Device& device, const Op& op);

/// A fault of a device in one line, as reports have it; empty where there is none.
std::string fault_text(const RunResult& result);

/// Everything that the oracle of the operation holds against `result`; empty when it is right.
/// Faults of the device are not judged here. A product too large for the host is computed a second
/// time on `device`, by its reference engine.
std::vector<Miscompare> judge(const Op& op, const RunResult& result, std::uint32_t row,
                              Device& device);

}  // namespace tidemark
