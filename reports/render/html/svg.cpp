// Charts as inline SVG elements; nothing where there is nothing to draw.
#include "reports/render/html/svg.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "reports/base/words.hpp"

namespace tidemark {

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

// Draws heat maps: names of cases stand upright above their columns.

namespace {

constexpr double kCell = 16, kGap = 2;
constexpr double kFaintest = 0.3;  // opacity of a cell that is hardly bad
constexpr double kOnBad = 0.7;     // from there on a letter has the color for bad cells
constexpr std::size_t kRowLabel = 28, kColumnLabel = 40;  // characters at most

double width_of(const std::vector<std::string>& labels, std::size_t most) {
  std::size_t longest = 0;
  for (const std::string& label : labels) longest = std::max(longest, std::min(label.size(), most));
  return static_cast<double>(longest) * kLetterWidth + 10;
}

/// Cut names end in dots: two that begin alike must not look equal.
std::string cut(const std::string& label, std::size_t most) {
  return for_html(label.size() <= most ? label : label.substr(0, most - 2) + "..");
}

const char* class_of(HeatKind kind) {
  constexpr const char* kClasses[] = {"cell-none", "cell-good", "cell-bad", "cell-warn"};
  return kClasses[static_cast<std::size_t>(kind)];
}

std::string svg_of(const HeatCell& cell, double x, double y) {
  const double side = kCell - kGap;
  const bool partly = cell.kind == HeatKind::bad && cell.share < 1;
  std::string made = fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"",
                                 class_of(partly ? HeatKind::good : cell.kind), x, y, side, side);
  made +=
      cell.label.empty() ? "/>" : fmt::format("><title>{}</title></rect>", for_html(cell.label));
  const auto lay_over = [&](const char* kind, double opacity) {
    made += fmt::format(
        "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill-opacity=\"{:.2f}\" "
        "pointer-events=\"none\"/>",
        kind, x, y, side, side, std::min(1.0, opacity));
  };
  if (std::abs(cell.shade) > 0.02) {
    lay_over(cell.shade < 0 ? "slower" : "faster", std::abs(cell.shade));
  }
  // One failure of a thousand has to be seen.
  const double depth = kFaintest + (1 - kFaintest) * cell.share;
  if (partly) lay_over(class_of(HeatKind::bad), depth);
  if (cell.mark != ' ') {
    made += fmt::format(
        "<text class=\"{}\" x=\"{}\" y=\"{}\" text-anchor=\"middle\" "
        "pointer-events=\"none\">{}</text>",
        cell.kind == HeatKind::bad && depth > kOnBad ? "on-bad" : "on-warn", x + side / 2,
        y + side - 3, for_html(std::string_view(&cell.mark, 1)));
  }
  return made;
}

}  // namespace

std::string svg_of(const HeatMap& map) {
  if (map.rows.empty() || map.columns.empty()) return {};
  const double left = width_of(map.rows, kRowLabel), top = width_of(map.columns, kColumnLabel);
  const auto at = [](std::size_t index) { return kCell * static_cast<double>(index); };
  std::string made = fmt::format(
      "<div class=\"wide\"><svg role=\"img\" aria-label=\"{}\" width=\"{}\" height=\"{}\">\n",
      for_html(map.title), left + at(map.columns.size()) + kCell, top + at(map.rows.size()) + kGap);
  for (std::size_t i = 0; i < map.columns.size(); ++i) {
    made += fmt::format("<text transform=\"translate({:.1f} {:.1f}) rotate(-90)\">{}</text>\n",
                        left + at(i) + kCell - 5, top - 5, cut(map.columns[i], kColumnLabel));
  }
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    made += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", left - 6,
                        top + at(row) + kCell - 5, cut(map.rows[row], kRowLabel));
    for (std::size_t column = 0; column < map.cells[row].size(); ++column) {
      made += svg_of(map.cells[row][column], left + at(column), top + at(row));
    }
    made += '\n';
  }
  return made + "</svg></div>\n";
}

// Draws strip plots: an axis with round numbers, a line of dots and strokes for each row.

namespace {

constexpr double kStripLeft = 180, kStripWidth = 840, kStripRight = 40, kStripTop = 8,
                 kStripAxis = 24;
constexpr std::size_t kLabel = 25;  // characters that find room to the left

/// Many dots need room to lie beside each other.
double height_of(const StripRow& row) {
  constexpr std::size_t kMany = 24;
  return row.dots.size() > kMany ? 48 : 22;
}

struct StripScale {
  AxisRange range;

  double x(double value) const {
    return kStripLeft + (value - range.low) / (range.high - range.low) * kStripWidth;
  }
};

StripScale scale_of(const StripPlot& plot) {
  std::vector<double> values;
  for (const StripRow& row : plot.rows) {
    values.insert(values.end(), row.samples.begin(), row.samples.end());
    for (const StripDot& dot : row.dots) values.push_back(dot.value);
  }
  return {axis_range(values)};
}

std::string axis_of(const StripScale& scale, double bottom) {
  constexpr double kTicks = 8;
  std::string made;
  for (const double value : axis_ticks(scale.range, kTicks)) {
    made += fmt::format(
        "<path class=\"grid\" d=\"M{0:.1f} {1}V{2}\"/>"
        "<text class=\"muted\" x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"middle\">{4}</text>\n",
        scale.x(value), kStripTop, bottom, bottom + 16, short_number(value));
  }
  return made;
}

std::string samples_of(std::vector<double> samples, const StripScale& scale, double middle) {
  std::erase_if(samples, [](double value) { return !std::isfinite(value); });
  if (samples.empty()) return {};
  std::ranges::sort(samples);
  const std::size_t drawn = std::min(kStripSamples, samples.size());
  std::string path;
  for (std::size_t i = 0; i < drawn; ++i) {
    // The first and the last stay: they are the least and the greatest.
    const std::size_t at = drawn == 1 ? 0 : i * (samples.size() - 1) / (drawn - 1);
    path += fmt::format("M{:.1f} {}v12", scale.x(samples[at]), middle - 6);
  }
  return fmt::format("<path class=\"samples\" d=\"{}\"/>", path);
}

/// Dots of one line are spread over its height, always the same way: equal values stay apart.
double lift_of(std::size_t i, const StripRow& row) {
  if (row.dots.size() == 1) return 0;
  return (std::fmod(static_cast<double>(i) * 0.618, 1.0) - 0.5) * (height_of(row) - 12);
}

/// The dots that say what they are: all, or of very many the outermost, and as many of those that
/// do not count.
std::vector<bool> told_of(const std::vector<StripDot>& dots) {
  std::vector<bool> told(dots.size(), dots.size() <= kStripDots);
  if (dots.size() <= kStripDots) return told;
  std::vector<std::size_t> order;
  std::size_t void_ones = 0;
  for (std::size_t i = 0; i < dots.size(); ++i) {
    if (!dots[i].counts) {
      told[i] = ++void_ones <= kStripOutermost;
    } else if (std::isfinite(dots[i].value)) {
      order.push_back(i);
    }
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return dots[i].value; });
  for (std::size_t i = 0; i < std::min(kStripOutermost, order.size()); ++i) {
    told[order[i]] = told[order[order.size() - 1 - i]] = true;
  }
  return told;
}

std::string dots_of(const StripRow& row, const StripScale& scale, double middle) {
  const std::vector<StripDot>& dots = row.dots;
  const std::vector<bool> told = told_of(dots);
  std::string made, crowd, void_crowd;
  for (std::size_t i = 0; i < dots.size(); ++i) {
    const StripDot& dot = dots[i];
    if (!std::isfinite(dot.value)) continue;
    const double x = scale.x(dot.value), y = middle + lift_of(i, row);
    if (!told[i]) {
      (dot.counts ? crowd : void_crowd) += fmt::format("M{:.1f} {:.1f}h0", x, y);
      continue;
    }
    made += fmt::format(
        "<circle class=\"dot{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"><title>{}</title></circle>",
        dot.counts ? "" : " void", x, y, dots.size() > 8 ? 3 : 4, for_html(dot.label));
  }
  const auto path_of = [](const char* kind, const std::string& path) {
    return path.empty() ? path : fmt::format("<path class=\"{}\" d=\"{}\"/>", kind, path);
  };
  return path_of("crowd", crowd) + path_of("crowd void", void_crowd) + made;
}

}  // namespace

std::string svg_of(const StripPlot& plot) {
  const StripScale scale = scale_of(plot);
  if (!scale.range.is_finite()) return {};
  double bottom = kStripTop;
  for (const StripRow& row : plot.rows) bottom += height_of(row);
  std::string made = fmt::format(
      "<h3>{} <span class=\"muted\">{}, {} is better</span></h3>\n"
      "<div class=\"wide\"><svg role=\"img\" aria-label=\"{}\" width=\"{}\" height=\"{}\">\n",
      for_html(plot.title), for_html(plot.unit), plot.higher_is_better ? "more" : "less",
      for_html(plot.title), kStripLeft + kStripWidth + kStripRight, bottom + kStripAxis);
  made += axis_of(scale, bottom);
  double top = kStripTop;
  for (const StripRow& row : plot.rows) {
    const double middle = top + height_of(row) / 2;
    top += height_of(row);
    made += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>", kStripLeft - 10,
                        middle + 4, for_html(row.label.substr(0, kLabel)));
    made += samples_of(row.samples, scale, middle) + dots_of(row, scale, middle) + "\n";
  }
  return made + "</svg></div>\n";
}

}  // namespace tidemark
