// The map of a report: rows are nodes, or GPUs where there are few; columns are cases.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "reports/render/escape.hpp"
#include "reports/render/groups.hpp"
#include "reports/render/html/document.hpp"
#include "reports/render/html/heat_map.hpp"
#include "reports/render/measured.hpp"
#include "reports/render/parts.hpp"
#include "reports/render/show_html.hpp"
#include "reports/store/ranges.hpp"

namespace tidemark::reports {
namespace {

constexpr std::size_t kTold = 4000;  // cells, of which each says what it is
constexpr double kFullShade = 0.05;  // 5 % from the median of all is as dark as it gets

/// What the results of one row of the map on one case come to.
struct Place {
  std::size_t results = 0, worst_results = 0;
  Verdict worst = Verdict::pass;
  std::vector<double> values;  // of its first metric, passes only
};

struct Grid {
  std::vector<std::string> rows;
  std::vector<std::vector<Place>> places;  // [row][case]
};

bool by_gpu(const Report& report) { return report.gpus.size() <= kMapGpus; }

std::size_t row_of(const Report& report, std::uint32_t gpu_id) {
  if (by_gpu(report)) return gpu_id;
  const std::uint32_t node = report.gpus[gpu_id].node_id;
  return node == kNoRow ? report.nodes.size() : node;  // the last row is of those without a node
}

Grid grid_of(const Report& report) {
  Grid made;
  if (by_gpu(report)) {
    for (const GpuRow& gpu : report.gpus) {
      const std::string_view host =
          gpu.node_id == kNoRow ? "no node" : report.text(report.nodes[gpu.node_id].hostname);
      // A long name must not push out the number of the GPU.
      made.rows.push_back(fmt::format("{} GPU {}", host.substr(0, 18), gpu.gpu_id));
    }
  } else {
    for (const NodeRow& node : report.nodes) made.rows.emplace_back(report.text(node.hostname));
    const bool any_silent = std::any_of(report.gpus.begin(), report.gpus.end(),
                                        [](const GpuRow& gpu) { return gpu.node_id == kNoRow; });
    if (any_silent) made.rows.emplace_back("never reported");
  }
  made.places.assign(made.rows.size(), std::vector<Place>(report.cases.size()));
  for (const ResultRow& result : report.results) {
    Place& place = made.places[row_of(report, result.gpu_id)][result.case_id];
    if (place.results == 0 || rank_of(result.verdict) < rank_of(place.worst)) {
      place.worst = result.verdict;
      place.worst_results = 0;
    }
    ++place.results;
    if (result.verdict == place.worst) ++place.worst_results;
  }
  for (const auto& [case_id, all] : measured_of(report)) {
    for (const MetricRow* row : counted_of(report, all.front())) {
      made.places[row_of(report, report.results[row->result_id].gpu_id)][case_id].values.push_back(
          row->median);
    }
  }
  return made;
}

/// Per case, what its values are held against: the median of all, and its sign.
struct Middle {
  double value = std::nan("");
  bool higher_is_better = true;
};

std::vector<Middle> middles_of(const Report& report) {
  std::vector<Middle> made(report.cases.size());
  for (const auto& [case_id, all] : measured_of(report)) {
    std::vector<double> values;
    for (const MetricRow* row : counted_of(report, all.front())) values.push_back(row->median);
    made[case_id] = {.value = statistics_of(std::move(values)).median,
                     .higher_is_better = all.front().higher_is_better};
  }
  return made;
}

/// One letter or sign a verdict, no two alike: colours are not for everybody.
constexpr std::array<char, kVerdicts> kMarks = {' ', 'F', 'f', 'H', 'C', 'S', 'G',
                                                'U', 'T', '-', 'w', 'p', '?'};

/// From -1 (worse than the median of all) to 1 (better); 0 where nothing was measured.
double shade_of(const Place& place, const Middle& middle) {
  if (place.worst != Verdict::pass || place.values.empty()) return 0;
  const double change = statistics_of(place.values).median / middle.value - 1;
  if (!std::isfinite(change)) return 0;
  return std::clamp(change / kFullShade, -1.0, 1.0) * (middle.higher_is_better ? 1 : -1);
}

HeatCell cell_of(const Place& place, const Middle& middle, const std::string& where) {
  if (place.results == 0) return {};
  HeatCell cell;
  cell.kind = place.worst == Verdict::pass ? HeatKind::good
              : is_quiet(place.worst)      ? HeatKind::warn
                                           : HeatKind::bad;
  cell.mark = kMarks[static_cast<std::size_t>(place.worst)];
  cell.label = fmt::format("{}: {}", where, name_of(place.worst));
  if (place.results > 1) {
    cell.label += fmt::format(" ({} of {} results)", place.worst_results, place.results);
  }
  cell.shade = shade_of(place, middle);
  if (cell.shade != 0) {
    const double value = statistics_of(place.values).median;
    cell.label += fmt::format(", {}, {:+.1f} % from the median of all", short_number(value),
                              (value / middle.value - 1) * 100);
  }
  return cell;
}

/// How much there is to see: 0 wrong, 1 far from the others, 2 did not run, 3 nothing.
int rank_in_map(const Place& place, const Middle& middle) {
  if (place.worst != Verdict::pass) return is_quiet(place.worst) ? 2 : 0;
  return std::abs(shade_of(place, middle)) > 0.5 ? 1 : 3;
}

/// What the colours and letters of the map mean.
std::string legend() {
  std::string bad, quiet;
  for (std::size_t i = 1; i < kVerdicts; ++i) {
    std::string& names = is_quiet(static_cast<Verdict>(i)) ? quiet : bad;
    names += fmt::format("{}{} {}", names.empty() ? "" : ", ", kMarks[i], kVerdictNames[i]);
  }
  return fmt::format(
      "<p class=\"legend\"><span>{}pass</span><span>{}{}</span><span>{}{}</span>"
      "<span>{}{}measured worse or better than the median of all, full at {:.0f} %</span></p>\n",
      heat_swatch("cell-good"), heat_swatch("cell-bad"), bad, heat_swatch("cell-warn"), quiet,
      heat_swatch("slower"), heat_swatch("faster"), kFullShade * 100);
}

}  // namespace

std::string html_map(const Report& report, const HtmlLimits& limits) {
  const Grid grid = grid_of(report);
  const std::vector<Middle> middles = middles_of(report);
  const auto rank_of_row = [&](std::size_t row) {
    int least = 3;
    for (std::size_t i = 0; i < report.cases.size(); ++i) {
      least = std::min(least, rank_in_map(grid.places[row][i], middles[i]));
    }
    return least;
  };
  const auto rank_of_column = [&](std::size_t column) {
    // A benchmark always has something to see.
    int least = std::isnan(middles[column].value) ? 3 : -1;
    for (const std::vector<Place>& places : grid.places) {
      least = std::min(least, rank_in_map(places[column], middles[column]));
    }
    return least;
  };
  const auto rows = most_telling(grid.rows.size(), limits.map_rows, rank_of_row);
  const auto columns = most_telling(report.cases.size(), limits.map_columns, rank_of_column);
  HeatMap map{.title = "verdicts by place and case", .rows = {}, .columns = {}, .cells = {}};
  for (const std::size_t column : columns) {
    map.columns.emplace_back(report.cases[column].name.view());
  }
  for (const std::size_t row : rows) {
    map.rows.push_back(grid.rows[row]);
    std::vector<HeatCell>& cells = map.cells.emplace_back();
    for (const std::size_t column : columns) {
      const std::string where =
          fmt::format("{} on {}", report.cases[column].name.view(), grid.rows[row]);
      cells.push_back(cell_of(grid.places[row][column], middles[column], where));
      // A great map of passes would be most of the page if each of them said so.
      if (rows.size() * columns.size() > kTold && cells.back().kind == HeatKind::good &&
          cells.back().shade == 0) {
        cells.back().label.clear();
      }
    }
  }
  return legend() + svg_of(map) + html_left_out(grid.rows.size() - rows.size(), "row") +
         html_left_out(report.cases.size() - columns.size(), "case");
}

std::string html_cases(const Report& report, const HtmlLimits& limits) {
  struct Sum {
    std::vector<std::uint32_t> gpus;
    std::uint64_t run = 0, failed = 0;
    double seconds = 0;
  };
  std::map<std::pair<int, std::uint32_t>, Sum> sums;  // by rank of the verdict and case
  std::map<int, Verdict> verdicts;
  for (const ResultRow& result : report.results) {
    verdicts[rank_of(result.verdict)] = result.verdict;
    Sum& sum = sums[{rank_of(result.verdict), result.case_id}];
    sum.gpus.push_back(result.gpu_id);
    sum.run += result.rows_run;
    sum.failed += result.rows_failed;
    if (result.seconds > sum.seconds) sum.seconds = result.seconds;
  }
  std::vector<std::vector<HtmlCell>> rows;
  for (auto& [key, sum] : sums) {
    if (rows.size() == limits.table_rows) break;
    const CaseRow& of = report.cases[key.second];
    std::sort(sum.gpus.begin(), sum.gpus.end());
    const Verdict verdict = verdicts[key.first];
    const char* const kind = verdict == Verdict::pass ? "good" : is_quiet(verdict) ? "warn" : "bad";
    rows.push_back({{.html = fmt::format("<span class=\"{}\">{}</span>", kind, name_of(verdict))},
                    {.html = fmt::format("<code>{}</code>", for_html(of.name.view()))},
                    text_cell(report.text(of.kind)),
                    text_cell(ranges(sum.gpus)),
                    count_cell(sum.run),
                    count_cell(sum.failed),
                    number_cell(sum.seconds),
                    text_cell(report.text(of.claim))});
  }
  return html_table("every-case", "every case",
                    {{"verdict"},
                     {"case"},
                     {"kind"},
                     {"GPUs"},
                     {"rows run", true},
                     {"rows failed", true},
                     {"longest s", true},
                     {"claim"}},
                    rows) +
         html_left_out(sums.size() - rows.size(), "line");
}

}  // namespace tidemark::reports
