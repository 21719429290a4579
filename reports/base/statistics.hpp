// The middle, the quartiles and the ends of some numbers.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace tidemark {

/// What stands where there is no number.
inline constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

/// The mean of the two in the middle where their number is even; NaN of nothing. No value is NaN.
double median_of(std::vector<double> values);
/// The same of those from `first` to before `end`.
double median_of(std::span<const double> values, std::size_t first, std::size_t end);

/// NaN in every field when no value is finite.
struct Statistics {
  std::size_t finite = 0;  // values that count
  double median = 0, mad = 0, min = 0, max = 0, mean = 0;
};

/// Over the finite values. `mad` is the median distance from the median, not scaled.
Statistics statistics_of(std::vector<double> values);

}  // namespace tidemark
