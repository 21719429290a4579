// The middle of some numbers.
#pragma once

#include <limits>
#include <vector>

namespace tidemark::reports {

/// What stands where there is no number.
inline constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

/// The mean of the two in the middle where their number is even; NaN of nothing. No value is NaN.
double median_of(std::vector<double> values);

}  // namespace tidemark::reports
