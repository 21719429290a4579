// The middle, the quartiles and the ends of some numbers.
#include "reports/base/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace tidemark {

double median_of(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return std::midpoint(*std::max_element(values.begin(), middle), *middle);  // a sum could overflow
}

double median_of(std::span<const double> values, std::size_t first, std::size_t end) {
  const std::span<const double> part = values.subspan(first, end - first);
  return median_of({part.begin(), part.end()});
}

Statistics statistics_of(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (values.empty()) {
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    return {.finite = 0, .median = kNaN, .mad = kNaN, .min = kNaN, .max = kNaN, .mean = kNaN};
  }
  // A sum depends on its order: sorted, the mean is the same whichever sample came first.
  std::ranges::sort(values);
  Statistics made;
  made.finite = values.size();
  made.median = median_of(values);
  made.min = values.front();
  made.max = values.back();
  made.mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  for (double& value : values) value = std::abs(value - made.median);
  made.mad = median_of(std::move(values));
  return made;
}

}  // namespace tidemark
