// What a row came to, of what its device handed back or refused.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kernels/device.hpp"
#include "suite/outcome.hpp"

namespace tidemark {

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
