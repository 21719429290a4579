// Draws heat maps: names of cases stand upright above their columns.
#include "reports/render/html/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "reports/base/escape.hpp"

namespace tidemark::reports {
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
  switch (kind) {
    case HeatKind::good:
      return "cell-good";
    case HeatKind::bad:
      return "cell-bad";
    case HeatKind::warn:
      return "cell-warn";
    case HeatKind::none:
      break;
  }
  return "cell-none";
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

}  // namespace tidemark::reports
