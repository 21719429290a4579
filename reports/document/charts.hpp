// Charts as data: what is drawn, and nothing of how.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tidemark::reports {

enum class HeatKind { none, good, bad, warn };

struct HeatCell {
  HeatKind kind = HeatKind::none;
  char mark = ' ';         // a letter, so that nothing hangs on colours alone
  double shade = 0;        // from -1 (worse than the others) to 1 (better): laid over a good cell
  double share = 1;        // of a bad cell: how much of it is bad, above 0; the rest is good
  std::string label = {};  // said when pointed at; empty: nothing
};

/// Rows against columns, a cell each.
struct HeatMap {
  std::string title;
  std::vector<std::string> rows, columns;
  std::vector<std::vector<HeatCell>> cells;  // [row][column]
  bool captioned = false;                    // one of several, each under its title
};

/// A change of so much is as dark as it gets.
inline constexpr double kFullShade = 0.05;

/// The rows of a map of GPUs: few GPUs get one each, more share those of their nodes.
struct GpuRows {
  std::vector<std::string> names;
  std::vector<std::size_t> of_gpu;
};
GpuRows gpu_rows(const std::vector<std::pair<std::string, std::uint32_t>>& nodes_and_numbers);

/// Of each place how much there is to see (0 most, kNothingToSee), and its cell, which is labeled
/// with what is there alone.
struct MapPlaces {
  std::function<int(std::size_t row, std::size_t column)> rank;
  std::function<HeatCell(std::size_t row, std::size_t column)> cell;
};
inline constexpr int kNothingToSee = 3;

/// The indices below `count` to show, in their order: where more than `most`, those of the lowest
/// rank.
std::vector<std::size_t> most_telling(std::size_t count, std::size_t most,
                                      const std::function<int(std::size_t)>& rank);

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

/// Numbers of many GPUs on one axis.
struct StripPlot {
  std::string title, unit;
  bool higher_is_better = true;
  std::vector<StripRow> rows;
};

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

/// A metric over the time of its launches.
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

}  // namespace tidemark::reports
