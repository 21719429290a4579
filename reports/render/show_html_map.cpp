// The map of a report: rows are nodes, or GPUs where there are few; columns are cases.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "reports/render/escape.hpp"
#include "reports/render/groups.hpp"
#include "reports/render/html/document.hpp"
#include "reports/render/html/heat_map.hpp"
#include "reports/render/measured.hpp"
#include "reports/render/parts.hpp"
#include "reports/render/show_html.hpp"
#include "reports/store/ranges.hpp"

namespace tidemark {
namespace {

constexpr std::size_t kFewGpus = 32;  // so many get rows of their own
constexpr double kFullShade = 0.05;   // 5 % from the median of all is as dark as it gets

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

bool by_gpu(const Report& report) { return report.gpus.size() <= kFewGpus; }

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
    made.rows.emplace_back("never reported");
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

HeatCell cell_of(const Place& place, const Middle& middle, const std::string& where) {
  if (place.results == 0) return {};
  HeatCell cell;
  cell.kind = place.worst == Verdict::pass ? HeatKind::good
              : is_quiet(place.worst)      ? HeatKind::warn
                                           : HeatKind::bad;
  if (place.worst != Verdict::pass) cell.mark = heading_of(place.worst).front();
  cell.label = fmt::format("{}: {}", where, name_of(place.worst));
  if (place.results > 1) {
    cell.label += fmt::format(" ({} of {} results)", place.worst_results, place.results);
  }
  const double value = statistics_of(place.values).median;
  const double change = value / middle.value - 1;
  if (std::isfinite(change) && cell.kind == HeatKind::good) {
    cell.shade = std::clamp(change / kFullShade, -1.0, 1.0) * (middle.higher_is_better ? 1 : -1);
    cell.label +=
        fmt::format(", {}, {:+.1f} % from the median of all", short_number(value), change * 100);
  }
  return cell;
}

/// The indices to show, in their order: those with something to see first, where not all fit.
template <class Seen>
std::vector<std::size_t> chosen(std::size_t count, std::size_t most, Seen to_see) {
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (count <= most) return all;
  std::stable_partition(all.begin(), all.end(), to_see);
  all.resize(most);
  std::sort(all.begin(), all.end());
  return all;
}

const char* const kLegend =
    "<p class=\"legend\"><span><svg width=\"14\" height=\"14\"><rect class=\"cell-good\" "
    "width=\"14\" height=\"14\"/></svg>pass</span>"
    "<span><svg width=\"14\" height=\"14\"><rect class=\"cell-bad\" width=\"14\" height=\"14\"/>"
    "</svg>F fail or flaky, H hang, C crash, S sticky, G GPU lost, U unkillable or unexpected "
    "pass, "
    "T tool error</span>"
    "<span><svg width=\"14\" height=\"14\"><rect class=\"cell-warn\" width=\"14\" height=\"14\"/>"
    "</svg>N not run, S skip, W waived</span>"
    "<span><svg width=\"28\" height=\"14\"><rect class=\"slower\" width=\"14\" height=\"14\"/>"
    "<rect class=\"faster\" x=\"14\" width=\"14\" height=\"14\"/></svg>measured: worse or better "
    "than the median of all, full at 5 %</span></p>\n";

}  // namespace

std::string html_map(const Report& report, const HtmlLimits& limits) {
  const Grid grid = grid_of(report);
  const auto bad = [&grid](std::size_t row, std::size_t column) {
    return grid.places[row][column].worst != Verdict::pass;
  };
  const auto any_of = [](std::size_t count, auto test) {
    for (std::size_t i = 0; i < count; ++i) {
      if (test(i)) return true;
    }
    return false;
  };
  const std::vector<std::size_t> rows =
      chosen(grid.rows.size(), limits.map_rows, [&](std::size_t row) {
        return any_of(report.cases.size(), [&](std::size_t column) { return bad(row, column); });
      });
  const std::vector<std::size_t> columns =
      chosen(report.cases.size(), limits.map_columns, [&](std::size_t column) {
        return any_of(grid.rows.size(), [&](std::size_t row) { return bad(row, column); });
      });
  const std::vector<Middle> middles = middles_of(report);
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
    }
  }
  return kLegend + svg_of(map) + html_left_out(grid.rows.size() - rows.size(), "row") +
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

}  // namespace tidemark
