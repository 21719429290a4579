// Draws strip plots: an axis with round numbers, a line of dots and strokes for each row.
#include "reports/render/html/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/base/escape.hpp"
#include "reports/render/page.hpp"

namespace tidemark::reports {
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
  samples.erase(std::remove_if(samples.begin(), samples.end(),
                               [](double value) { return !std::isfinite(value); }),
                samples.end());
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
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
  std::stable_sort(order.begin(), order.end(),
                   [&dots](std::size_t a, std::size_t b) { return dots[a].value < dots[b].value; });
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

}  // namespace tidemark::reports
