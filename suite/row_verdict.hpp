// What one row came to: what the device says of it, and what of its answer is wrong.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "kernels/device.hpp"
#include "suite/outcome.hpp"
#include "suite/room.hpp"

namespace tidemark::suite {

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

}  // namespace tidemark::suite
