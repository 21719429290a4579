// Moments of launches: which can be one, and how they are written.
#pragma once

#include <string>

namespace tidemark::reports {

/// Whether a launch can have begun then: from 2020 to the end of 2199. What lies outside is a clock
/// that was never set, or a report that was made up.
bool is_launch_time(double unix_s);

/// "2026-09-01T00:00:00Z"; empty of what is no time before the year 10000.
std::string utc_text(double unix_s);

}  // namespace tidemark::reports
