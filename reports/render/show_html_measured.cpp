// What was measured, on a page: a strip plot a metric, then every number in a table.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reports/render/escape.hpp"
#include "reports/render/html/document.hpp"
#include "reports/render/html/strip_plot.hpp"
#include "reports/render/measured.hpp"
#include "reports/render/parts.hpp"
#include "reports/render/show_html.hpp"

namespace tidemark::reports {
namespace {

constexpr std::size_t kGpuRows = 16, kNodeRows = 32;  // more share fewer lines

StripDot dot_of(const Report& report, const Measured& measured, const MetricRow& row) {
  const ResultRow& result = report.results[row.result_id];
  const bool counts = result.verdict == Verdict::pass;
  return {.value = row.median,
          .label = fmt::format("{}: median {} {} (mad {}, n {}){}", place_of(report, result.gpu_id),
                               short_number(row.median), measured.unit, short_number(row.mad),
                               row.n, counts ? "" : ", not a pass: does not count"),
          .counts = counts};
}

StripRow gpu_row(const Report& report, const Measured& measured, const MetricRow& row) {
  StripRow made{.label = fmt::format("GPU {}", report.results[row.result_id].gpu_id),
                .samples = {},
                .dots = {dot_of(report, measured, row)}};
  made.samples.reserve(row.n);
  for (std::uint64_t i = 0; i < row.n; ++i) {
    made.samples.push_back(report.samples[row.first_sample + i].value);
  }
  return made;
}

/// Which line of the plot a GPU belongs to: its node, where those are few enough.
std::string line_label(const Report& report, std::uint32_t gpu_id) {
  const std::uint32_t node = report.gpus[gpu_id].node_id;
  if (report.nodes.size() > kNodeRows) return "all GPUs";
  return node == kNoRow ? "no node" : std::string(report.text(report.nodes[node].hostname));
}

StripPlot plot_of(const Report& report, std::string_view case_name, const Measured& measured) {
  StripPlot made{.title = fmt::format("{} {}", case_name, measured.name),
                 .unit = std::string(measured.unit),
                 .higher_is_better = measured.higher_is_better,
                 .rows = {}};
  if (measured.rows.size() <= kGpuRows) {
    for (const MetricRow* row : measured.rows) made.rows.push_back(gpu_row(report, measured, *row));
    return made;
  }
  std::map<std::string, std::size_t> lines;
  for (const MetricRow* row : measured.rows) {
    const std::string label = line_label(report, report.results[row->result_id].gpu_id);
    const auto [at, fresh] = lines.try_emplace(label, made.rows.size());
    if (fresh) made.rows.push_back({.label = label, .samples = {}, .dots = {}});
    made.rows[at->second].dots.push_back(dot_of(report, measured, *row));
  }
  return made;
}

std::vector<HtmlCell> table_row(const Report& report, std::string_view case_name,
                                const Measured& measured, const MetricRow& row) {
  const ResultRow& result = report.results[row.result_id];
  const std::uint32_t node = report.gpus[result.gpu_id].node_id;
  const auto sensor = [](float value) { return number_cell(static_cast<double>(value)); };
  return {{.html = fmt::format("<code>{}</code>", for_html(case_name))},
          text_cell(measured.name),
          count_cell(result.gpu_id),
          text_cell(node == kNoRow ? "" : report.text(report.nodes[node].hostname)),
          number_cell(row.median),
          number_cell(row.mad),
          count_cell(row.n),
          number_cell(row.min),
          number_cell(row.max),
          text_cell(measured.unit),
          sensor(result.sm_mhz),
          sensor(result.power_w),
          sensor(result.temperature_c),
          text_cell(name_of(result.verdict))};
}

}  // namespace

std::string html_measured(const Report& report, const HtmlLimits& limits) {
  const auto measured = measured_of(report);
  if (measured.empty()) return {};
  std::string made =
      report.launch.is_virtual
          ? "<p class=\"banner\">VIRTUAL: the numbers below are of a model on a CPU, not of a "
            "GPU.</p>\n"
          : "";
  made +=
      "<p class=\"muted\">A dot is the median of a GPU, a stroke one of its samples; a hollow dot "
      "does not count, its case did not pass. Pointed at, a dot says whose it is; of very many on "
      "a "
      "line the outermost do.</p>\n";
  std::size_t plots = 0, metrics = 0, lines = 0;
  std::vector<std::vector<HtmlCell>> rows;
  for (const auto& [case_id, all] : measured) {
    const std::string_view case_name = report.cases[case_id].name.view();
    for (const Measured& one : all) {
      if (++metrics <= limits.plots) {
        made += svg_of(plot_of(report, case_name, one));
        ++plots;
      }
      for (const MetricRow* row : one.rows) {
        if (++lines <= limits.table_rows) {
          rows.push_back(table_row(report, case_name, one, *row));
        }
      }
    }
  }
  made += html_left_out(metrics - plots, "plot");
  made += "<h3>Every number</h3>\n" + html_table("numbers", "every number",
                                                 {{"case"},
                                                  {"metric"},
                                                  {"GPU", true},
                                                  {"node"},
                                                  {"median", true},
                                                  {"mad", true},
                                                  {"n", true},
                                                  {"min", true},
                                                  {"max", true},
                                                  {"unit"},
                                                  {"SM MHz", true},
                                                  {"W", true},
                                                  {"C", true},
                                                  {"verdict"}},
                                                 rows);
  return made + html_left_out(lines - rows.size(), "line");
}

}  // namespace tidemark::reports
