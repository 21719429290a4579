// Selects instead of sorting.
#include "reports/median.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace tidemark::reports {

double median_of(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return std::midpoint(*std::max_element(values.begin(), middle), *middle);  // a sum could overflow
}

}  // namespace tidemark::reports
