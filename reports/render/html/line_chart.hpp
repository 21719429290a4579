// A metric over the time of its launches, as inline SVG.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tidemark::reports {

/// One launch on the x axis.
struct ChartPoint {
  double unix_s = 0;
  double typical = 0;        // on the line; NaN: a gap
  double low = 0, high = 0;  // of all GPUs: the band
  std::string label = {};    // said when pointed at
  bool marked = false;       // its report is incomplete: a hollow dot
};

/// The value of one GPU, a dot of its own.
struct ChartDot {
  std::size_t point = 0;
  double value = 0;
  std::string label = {};
};

/// A vertical line in front of a launch: another driver.
struct ChartRule {
  std::size_t point = 0;
  std::string label = {};
};

/// A change that was told, at the first launch behind it.
struct ChartMark {
  std::size_t point = 0;
  double value = 0;
  bool worse = false;
  std::string label = {};
};

/// A level between two changes.
struct ChartLevel {
  std::size_t first = 0, last = 0;  // points
  double value = 0;
};

struct LineChart {
  std::string title = {}, unit = {};
  bool higher_is_better = true;
  bool band = false;                    // drawn in place of dots
  std::vector<ChartPoint> points = {};  // in the order of time
  std::vector<ChartDot> dots = {};
  std::vector<ChartRule> rules = {};
  std::vector<ChartMark> marks = {};
  std::vector<ChartLevel> levels = {};
};

/// The chart as an SVG element; nothing where no value is finite.
std::string svg_of(const LineChart& chart);

}  // namespace tidemark::reports
