// Order statistics of samples.
#pragma once

#include <cstddef>
#include <vector>

namespace tidemark::reports {

/// NaN in every field when no value is finite.
struct Statistics {
  std::size_t finite = 0;  // values that count
  double median = 0, mad = 0, min = 0, max = 0, mean = 0;
};

/// Over the finite values. `mad` is the median distance from the median, not scaled.
Statistics statistics_of(std::vector<double> values);

}  // namespace tidemark::reports
