// Charts as inline SVG elements; nothing where there is nothing to draw.
#pragma once

#include <cstddef>
#include <string>

#include "reports/document/charts.hpp"

namespace tidemark::reports {

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

}  // namespace tidemark::reports
