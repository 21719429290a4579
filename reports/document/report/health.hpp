// What a person wants to know of a night beside its verdicts: sick hardware, and the time it took.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/store/report.hpp"

namespace tidemark::reports {

/// Which GPUs and ranks the launch did without, and why, a line each (events from kLeftOut).
std::vector<std::string_view> left_out_of(const Report& report);

/// What left_out_of() names, then one line a GPU at which something was seen
/// that only its hardware can explain: Xid and other events, memory errors that were not corrected,
/// rows of memory to be remapped, clocks held down by heat or power brakes during results. Most
/// evidence first.
std::vector<std::string> hardware_lines(const Report& report);

/// How long the launch took and, of several GPUs, which was the slowest:
/// seconds in its results. Empty where no result
/// has a time.
std::string time_line(const Report& report);

}  // namespace tidemark::reports
