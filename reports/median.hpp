// The middle of some numbers.
#pragma once

#include <vector>

namespace tidemark::reports {

/// The mean of the two in the middle where their number is even; NaN of nothing. No value is NaN.
double median_of(std::vector<double> values);

}  // namespace tidemark::reports
