// The numbers along an axis of a chart.
#pragma once

#include <string>
#include <vector>

namespace tidemark::reports {

/// What an axis shows: the values and a little to spare.
struct AxisRange {
  double low = 0, high = 0;

  bool is_finite() const;
};

/// Of all finite values; not finite where there is none. Values that are all the same still get an
/// axis that is not a point.
AxisRange axis_range(const std::vector<double>& values);

/// Round numbers within the range, about `most` at most: 1, 2 or 5 times a power of ten apart.
std::vector<double> axis_ticks(const AxisRange& range, double most);

struct TimeTick {
  double unix_s = 0;
  std::string label;
};

/// Round times within the range, in UTC: dates, or hours and minutes within two days.
std::vector<TimeTick> time_ticks(const AxisRange& range);

}  // namespace tidemark::reports
