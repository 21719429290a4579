// Charts as inline SVG elements; nothing where there is nothing to draw.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "reports/document/document.hpp"

namespace tidemark {

// The style and the script of a page, as page.css and page.js hold them, put in by the build.

extern const std::string_view kPageStyle, kPageScript;

/// "sha256-...": what a Content-Security-Policy knows them by.
extern const std::string_view kPageStyleHash, kPageScriptHash;

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

/// Names of columns stand upright above them.
std::string svg_of(const HeatMap& map);

/// An axis with round numbers, a line of dots and strokes for each row.
std::string svg_of(const StripPlot& plot);

/// Values over time.
std::string svg_of(const LineChart& chart);

/// Of the page's font, in units of a drawing.
inline constexpr double kLetterWidth = 6.7;

inline constexpr std::size_t kStripSamples = 200;

/// More dots on a line are drawn as one path, but for so many on either side and so many of those
/// that do not count: a thousand GPUs would else be most of a page that no browser opens at once.
inline constexpr std::size_t kStripDots = 128, kStripOutermost = 16;

}  // namespace tidemark
