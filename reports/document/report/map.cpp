// The map of a report: rows are nodes, or GPUs where there are few; columns are cases.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "reports/base/words.hpp"
#include "reports/document/report/document.hpp"
#include "reports/schema/verdict.hpp"

namespace tidemark {
namespace {

/// What the results of one row of the map on one case come to.
struct Place {
  std::size_t results = 0, worst_results = 0;
  Verdict worst = Verdict::pass;
  std::vector<double> values;  // of its first metric, passes only
};

/// Of a case, what its values are compared with: the median of all, and its sign.
struct Middle {
  double value = std::nan("");
  bool higher_is_better = true;
};

struct Grid {
  GpuRows rows;
  std::vector<std::vector<Place>> places = {};  // [row][case]
  std::vector<Middle> middles = {};             // by case
};

Grid grid_of(const Report& report) {
  std::vector<std::pair<std::string, std::uint32_t>> gpus;
  for (const GpuRow& gpu : report.gpus) {
    gpus.emplace_back(gpu.node_id == kNoRow ? "never reported" : host_of(report, gpu.gpu_id),
                      gpu.gpu_id);
  }
  Grid made{.rows = gpu_rows(gpus)};
  made.places.assign(made.rows.names.size(), std::vector<Place>(report.cases.size()));
  for (const ResultRow& result : report.results) {
    Place& place = made.places[made.rows.of_gpu[result.gpu_id]][result.case_id];
    if (place.results == 0 || rank_of(result.verdict) < rank_of(place.worst)) {
      place.worst = result.verdict;
      place.worst_results = 0;
    }
    ++place.results;
    if (result.verdict == place.worst) ++place.worst_results;
  }
  made.middles.resize(report.cases.size());
  for (const auto& [case_id, all] : measured_of(report)) {
    std::vector<double> values;
    for (const MetricRow* row : counted_of(report, all.front())) {
      const std::uint32_t gpu = report.results[row->result_id].gpu_id;
      made.places[made.rows.of_gpu[gpu]][case_id].values.push_back(row->median);
      values.push_back(row->median);
    }
    made.middles[case_id] = {.value = statistics_of(std::move(values)).median,
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

HeatCell cell_of(const Place& place, const Middle& middle) {
  if (place.results == 0) return {};
  HeatCell cell;
  cell.kind = place.worst == Verdict::pass ? HeatKind::good
              : is_quiet(place.worst)      ? HeatKind::warn
                                           : HeatKind::bad;
  cell.mark = kMarks[static_cast<std::size_t>(place.worst)];
  cell.label = name_of(place.worst);
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

/// How much there is to see: wrong, far from the others, did not run or measured, nothing.
int rank_in_map(const Place& place, const Middle& middle) {
  if (place.worst != Verdict::pass) return is_quiet(place.worst) ? 2 : 0;
  if (std::abs(shade_of(place, middle)) > 0.5) return 1;
  return place.values.empty() ? kNothingToSee : 2;
}

/// What the colours and letters of the map mean.
Legend legend() {
  std::string bad, quiet;
  for (std::size_t i = 1; i < kVerdicts; ++i) {
    std::string& names = is_quiet(static_cast<Verdict>(i)) ? quiet : bad;
    names += fmt::format("{}{} {}", names.empty() ? "" : ", ", kMarks[i], kVerdictNames[i]);
  }
  return {{{{"cell-good"}, "pass"},
           {{"cell-bad"}, bad},
           {{"cell-warn"}, quiet},
           {{"slower", "faster"},
            fmt::format("measured worse or better than the median of all, full at {:.0f} %",
                        kFullShade * 100)}}};
}

}  // namespace

Section map_of(const Report& report, const ShowOptions& options) {
  const Grid grid = grid_of(report);
  HeatMap names{.title = "verdicts by place and case", .rows = grid.rows.names};
  for (const CaseRow& of : report.cases) names.columns.emplace_back(of.name.view());
  Section made{
      .id = "map", .heading = "Where", .link = "where", .blocks = {legend()}, .readers = kOnPage};
  add_map(made, names,
          {.rank =
               [&](std::size_t row, std::size_t column) {
                 return rank_in_map(grid.places[row][column], grid.middles[column]);
               },
           .cell =
               [&](std::size_t row, std::size_t column) {
                 return cell_of(grid.places[row][column], grid.middles[column]);
               }},
          options);
  return made;
}

Section cases_of(const Report& report, const ShowOptions& options) {
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
  TextTable table{.id = "every-case",
                  .label = "every case",
                  .columns = headings({"verdict", "case", "kind", "GPUs", ">rows run",
                                       ">rows failed", ">longest s", "claim"})};
  for (auto& [key, sum] : sums) {
    if (table.rows.size() == options.most(3000)) break;
    const CaseRow& of = report.cases[key.second];
    std::ranges::sort(sum.gpus);
    const Verdict verdict = verdicts[key.first];
    table.rows.push_back({{.text = std::string(name_of(verdict)), .tone = tone_of(verdict)},
                          code_cell(of.name.view()),
                          text_cell(report.text(of.kind)),
                          text_cell(ranges(sum.gpus)),
                          count_cell(sum.run),
                          count_cell(sum.failed),
                          number_cell(sum.seconds),
                          text_cell(report.text(of.claim))});
  }
  Section made{.id = "cases", .heading = "Every case", .link = "cases", .readers = kOnPage};
  const std::size_t shown = table.rows.size();
  made.add(std::move(table));
  made.leave_out(sums.size(), shown, "line");
  return made;
}

}  // namespace tidemark
