// Work that is added to a timed span on purpose, so that anyone can see a comparison find it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tidemark {

/// Units of work to add where a timed span has `units`, for Timing::slow: the nearest whole number,
/// at least 1; 0 where `slow` is 0.
std::uint32_t extra_units(std::uint32_t units, double slow);

/// How many times as much work that is: 1 + extra / units.
double slowed_factor(std::uint32_t units, double slow);

/// Nanoseconds to add to each sample where work has no units: `slow` times the median of what
/// samples took without. Throws Error where there are none.
double extra_ns(std::vector<double> untouched_ns, double slow);

/// What the note of a measurement says of it; empty where `slow` is 0. `what` in the plural.
std::string slowed_note(std::uint32_t units, double slow, const std::string& what);

}  // namespace tidemark
