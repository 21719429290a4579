// Runs the rows of a case that are programs side by side, and judges them on all cores.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/device.hpp"
#include "kernels/ops/op.hpp"
#include "suite/oracle/expect_tx.hpp"
#include "suite/outcome.hpp"

namespace tidemark {

/// One run of one row.
struct JudgedProgram {
  Op op;  // as it ran
  RunResult result;
  std::vector<Miscompare> found;  // where the result has something to compare
  MismatchSeen mismatch;          // of an ExpectTx
};

/// The runs of rows `begin` to `end`, in the order of the rows, each with the seed that it has
/// among all. The seed of the case decides which program goes first, so that each comes to other
/// SMs in each launch. Throws Error as the device and the oracle do.
std::vector<JudgedProgram> run_programs(const std::vector<Op>& rows, std::uint32_t begin,
                                        std::uint32_t end, Device& device, std::uint64_t case_seed);

}  // namespace tidemark
