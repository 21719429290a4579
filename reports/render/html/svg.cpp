// Charts as inline SVG elements; nothing where there is nothing to draw.
#include "reports/render/html/svg.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>

#include "reports/base/words.hpp"

namespace tidemark::reports {

bool AxisRange::is_finite() const { return std::isfinite(low) && std::isfinite(high - low); }

AxisRange axis_range(const std::vector<double>& values) {
  AxisRange made{.low = std::numeric_limits<double>::infinity(),
                 .high = -std::numeric_limits<double>::infinity()};
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    made.low = std::min(made.low, value);
    made.high = std::max(made.high, value);
  }
  const double spread = made.high - made.low;
  const double margin = spread > 0 ? spread * 0.03 : std::max(std::abs(made.low) * 0.01, 1e-9);
  made.low -= margin;
  made.high += margin;
  return made;
}

std::vector<double> axis_ticks(const AxisRange& range, double most) {
  const double rough = (range.high - range.low) / most;
  const double ten = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * ten;
  for (const double factor : {5.0, 2.0, 1.0}) {
    if (rough <= factor * ten) step = factor * ten;
  }
  const double first = std::ceil(range.low / step);
  std::vector<double> made;
  // Counted, not added up: a step that is lost beside its value would never come to the end.
  for (int i = 0; i < most + 4; ++i) {
    const double value = (first + i) * step;
    if (!(value <= range.high)) break;
    made.push_back(std::abs(value) < step / 2 ? 0 : value);
  }
  return made;
}

std::vector<TimeTick> time_ticks(const AxisRange& range) {
  constexpr double kMinute = 60, kHour = 3600, kDay = 86400, kMost = 8;
  const double span = range.high - range.low;
  double step = 365 * kDay;
  for (const double each :
       {182 * kDay, 91 * kDay, 30 * kDay, 14 * kDay, 7 * kDay, 2 * kDay, kDay, 12 * kHour,
        6 * kHour, 3 * kHour, kHour, 15 * kMinute, 5 * kMinute, kMinute}) {
    if (span <= kMost * each) step = each;
  }
  std::vector<TimeTick> made;
  const double first = std::ceil(range.low / step);
  for (int i = 0; i <= kMost; ++i) {
    const double at = (first + i) * step;
    if (!(at <= range.high)) break;
    const std::string utc = utc_text(at);
    if (utc.empty()) continue;
    constexpr std::size_t kDayLength = 10, kMinuteAt = 11, kMinuteLength = 5;
    made.push_back(
        {at, span < 2 * kDay ? utc.substr(kMinuteAt, kMinuteLength) : utc.substr(0, kDayLength)});
  }
  return made;
}

}  // namespace tidemark::reports
