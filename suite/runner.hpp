// How rows are prepared, run and judged: the parts of run_case that the checks of the suite use
// alone.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kernels/device.hpp"
#include "kernels/ops/op.hpp"
#include "suite/oracle/expect_tx.hpp"
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

// Runs the rows of a case that are programs side by side, and judges them on all cores.

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

// What one row came to: what the device says of it, and what of its answer is wrong.

/// `usable` is false where the device or its transport is spent.
struct RowVerdict {
  Judgement judgement = Judgement::pass;
  std::string reason;
  std::vector<Miscompare> miscompares;
  bool usable = true;
  std::int32_t cuda_error = 0;  // that cost this process its GPU
  std::set<std::uint16_t> sms;  // that the row is known to have visited
};

/// A fault of the device in words; empty for none. A code of 0 says nothing and is left out.
std::string fault_text(DeviceFault fault, std::int32_t code, const std::string& note);

/// The verdict of a row that ended in a fault of the device.
RowVerdict fault_verdict(DeviceFault fault, std::int32_t code, const std::string& note,
                         std::uint32_t row);

/// Faults of the device, and what `wrong` finds where there is something to compare.
RowVerdict row_verdict(const Op& op, const RunResult& result, std::uint32_t row,
                       const std::function<std::vector<Miscompare>()>& wrong);

// Cases whose rows have to end in a CUDA error: whether that error came.

/// What is wrong with `result` where the operation had to end in the sticky error `expected`, a
/// cudaError_t: nothing where it did; else expected and actual code (0 where there was no CUDA
/// error), and both in words. Miscompare::parameters is left to the caller.
std::optional<Miscompare> unlike_expected_error(std::int32_t expected, const RunResult& result,
                                                std::uint32_t row);

}  // namespace tidemark
