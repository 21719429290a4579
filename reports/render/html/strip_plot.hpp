// Numbers of many GPUs on one axis, as inline SVG.
#pragma once

#include <string>
#include <vector>

namespace tidemark::reports {

/// A median that is drawn as a dot.
struct StripDot {
  double value = 0;
  std::string label;   // said when pointed at
  bool counts = true;  // a hollow dot where its case did not pass
};

/// One line of the plot: a GPU with its samples, or a node with its GPUs.
struct StripRow {
  std::string label;
  std::vector<double> samples;  // thin strokes; at most kStripSamples are drawn, evenly by rank
  std::vector<StripDot> dots;
};

struct StripPlot {
  std::string title, unit;
  bool higher_is_better = true;
  std::vector<StripRow> rows;
};

inline constexpr std::size_t kStripSamples = 200;

/// More dots on a line are drawn as one path, but for so many on either side and so many of those
/// that do not count: a thousand GPUs would else be most of a page that no browser opens at once.
inline constexpr std::size_t kStripDots = 128, kStripOutermost = 16;

/// The plot as an SVG element; nothing where no value is finite.
std::string svg_of(const StripPlot& plot);

}  // namespace tidemark::reports
