// Draws line charts: time to the right, the metric upwards.
#include "reports/render/html/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/base/words.hpp"

namespace tidemark {
namespace {

constexpr double kLeft = 76, kWidth = 940, kRight = 44, kTop = 22, kHeight = 180, kAxis = 24;
constexpr double kBottom = kTop + kHeight;
/// More dots than this are no dots but a line, and a page of them is no page.
constexpr std::size_t kPointLabels = 250;

struct Scale {
  AxisRange time, value;

  double x(double unix_s) const {
    return kLeft + (unix_s - time.low) / (time.high - time.low) * kWidth;
  }
  double y(double of) const {
    return kBottom - (of - value.low) / (value.high - value.low) * kHeight;
  }
};

Scale scale_of(const LineChart& chart) {
  std::vector<double> times, values;
  for (const ChartPoint& point : chart.points) {
    times.push_back(point.unix_s);
    values.insert(values.end(), {point.typical, point.low, point.high});
  }
  Scale made{.time = axis_range(times), .value = axis_range(values)};
  // Launches of one moment stand in the middle of two minutes.
  constexpr double kLeastSpan = 60;
  if (!times.empty() && times.back() - times.front() < kLeastSpan) {
    made.time = {times.front() - kLeastSpan, times.back() + kLeastSpan};
  }
  return made;
}

std::string grid_of(const Scale& scale) {
  constexpr double kLines = 5;
  std::string made;
  for (const double value : axis_ticks(scale.value, kLines)) {
    made += fmt::format(
        "<path class=\"grid\" d=\"M{0} {1:.1f}H{2}\"/><text class=\"muted\" x=\"{3}\" "
        "y=\"{4:.1f}\" text-anchor=\"end\">{5}</text>\n",
        kLeft, scale.y(value), kLeft + kWidth, kLeft - 6, scale.y(value) + 4, short_number(value));
  }
  for (const TimeTick& tick : time_ticks(scale.time)) {
    made += fmt::format(
        "<path class=\"grid\" d=\"M{0:.1f} {1}V{2}\"/><text class=\"muted\" x=\"{0:.1f}\" "
        "y=\"{3}\" text-anchor=\"middle\">{4}</text>\n",
        scale.x(tick.unix_s), kTop, kBottom, kBottom + 16, tick.label);
  }
  return made;
}

std::string band_of(const LineChart& chart, const Scale& scale) {
  std::string there, back;
  for (const ChartPoint& point : chart.points) {
    if (!std::isfinite(point.low)) continue;
    const double x = scale.x(point.unix_s);
    there += fmt::format("{}{:.1f} {:.1f}", there.empty() ? "M" : "L", x, scale.y(point.high));
    back.insert(0, fmt::format("L{:.1f} {:.1f}", x, scale.y(point.low)));
  }
  return there.empty() ? "" : fmt::format("<path class=\"band\" d=\"{}{}Z\"/>\n", there, back);
}

std::string rules_of(const LineChart& chart, const Scale& scale) {
  std::string made;
  double free_from = 0;
  for (const ChartRule& rule : chart.rules) {
    const double after = scale.x(chart.points[rule.point].unix_s);
    const double before = rule.point == 0 ? after : scale.x(chart.points[rule.point - 1].unix_s);
    const double x = (before + after) / 2;
    made += fmt::format("<path class=\"rule\" d=\"M{:.1f} {}V{}\"><title>{}</title></path>", x,
                        kTop - 4, kBottom, for_html(rule.label));
    // A label that would stand on the one before is only said when pointed at.
    const double width = kLetterWidth * static_cast<double>(rule.label.size());
    if (x < free_from) continue;
    const bool fits = x + width < kLeft + kWidth + kRight;
    made +=
        fmt::format("<text class=\"muted\" x=\"{:.1f}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n", x,
                    kTop - 8, fits ? "start" : "end", for_html(rule.label));
    free_from = x + width + kLetterWidth;
  }
  return made;
}

std::string line_of(const LineChart& chart, const Scale& scale) {
  std::string path, dots;
  bool gap = true;
  for (const ChartPoint& point : chart.points) {
    if (!std::isfinite(point.typical)) {
      gap = true;
      continue;
    }
    const double x = scale.x(point.unix_s), y = scale.y(point.typical);
    path += fmt::format("{}{:.1f} {:.1f}", gap ? "M" : "L", x, y);
    gap = false;
    if (chart.points.size() > kPointLabels && !point.marked) continue;
    dots += fmt::format(
        "<circle class=\"dot{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\"><title>{}</title></circle>",
        point.marked ? " void" : "", x, y, for_html(point.label));
  }
  return fmt::format("<path class=\"line\" d=\"{}\"/>\n{}\n", path, dots);
}

std::string dots_of(const LineChart& chart, const Scale& scale) {
  std::string made;
  for (const ChartDot& dot : chart.dots) {
    if (!std::isfinite(dot.value)) continue;
    made += fmt::format(
        "<circle class=\"gpu\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2\"><title>{}</title></circle>",
        scale.x(chart.points[dot.point].unix_s), scale.y(dot.value), for_html(dot.label));
  }
  return made + "\n";
}

/// A triangle that points where the metric went, beside a letter for those who see no colours.
std::string marks_of(const LineChart& chart, const Scale& scale) {
  std::string made;
  for (const ChartMark& mark : chart.marks) {
    const double x = scale.x(chart.points[mark.point].unix_s);
    const double y = scale.y(mark.value);
    const bool down = mark.worse == chart.higher_is_better;
    made +=
        fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f}l-6 {}h12Z\"><title>{}</title></path>\n",
                    mark.worse ? "slower" : "faster", x, down ? y + 16 : y - 16, down ? -10 : 10,
                    for_html(mark.label));
  }
  return made;
}

std::string levels_of(const LineChart& chart, const Scale& scale) {
  std::string made;
  for (const ChartLevel& level : chart.levels) {
    made += fmt::format("<path class=\"level\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>\n",
                        scale.x(chart.points[level.first].unix_s), scale.y(level.value),
                        scale.x(chart.points[level.last].unix_s));
  }
  return made;
}

}  // namespace

std::string svg_of(const LineChart& chart) {
  const Scale scale = scale_of(chart);
  if (!scale.time.is_finite() || !scale.value.is_finite()) return {};
  const std::string title = for_html(chart.title);
  return fmt::format(
             "<h3>{} <span class=\"muted\">{}, {} is better</span></h3>\n<div class=\"wide\"><svg "
             "role=\"img\" aria-label=\"{}\" width=\"{}\" height=\"{}\">\n",
             title, for_html(chart.unit), chart.higher_is_better ? "more" : "less", title,
             kLeft + kWidth + kRight, kBottom + kAxis) +
         grid_of(scale) + (chart.band ? band_of(chart, scale) : dots_of(chart, scale)) +
         rules_of(chart, scale) + line_of(chart, scale) + levels_of(chart, scale) +
         marks_of(chart, scale) + "</svg></div>\n";
}

}  // namespace tidemark
