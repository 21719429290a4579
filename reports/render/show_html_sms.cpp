// A map a GPU of its SMs: gray where no row came, red by the share of rows that failed.
#include <fmt/format.h>

#include <algorithm>

#include "reports/render/escape.hpp"
#include "reports/render/html/heat_map.hpp"
#include "reports/render/parts.hpp"
#include "reports/render/show_html.hpp"

namespace tidemark::reports {
namespace {

constexpr std::uint32_t kAcross = 20;  // cells in a line: fits a telephone

/// A number without a row: without an SM as well, where all SMs were visited.
HeatCell cell_of(std::uint32_t number, const SmCount& count) {
  if (count.has_gaps() && count.all_visited()) {
    return {.kind = HeatKind::none, .label = fmt::format("no SM has the number {}", number)};
  }
  return {.kind = HeatKind::none,
          .mark = '-',
          .label = fmt::format("SM {}: never visited{}", number,
                               count.has_gaps() ? ", if an SM has this number" : "")};
}

HeatCell cell_of(const SmRow& row) {
  HeatCell cell{.kind = HeatKind::good,
                .label = fmt::format("SM {}: {} of {} rows failed", row.sm,
                                     grouped(row.rows_failed), grouped(row.rows_run))};
  if (row.rows_failed == 0) return cell;
  cell.kind = HeatKind::bad;
  cell.mark = 'F';
  cell.share = static_cast<double>(row.rows_failed) / static_cast<double>(row.rows_run);
  return cell;
}

std::vector<HeatCell> cells_of(const Report& report, std::uint32_t gpu_id) {
  const SmCount count = sm_count_of(report, gpu_id);
  std::vector<HeatCell> cells;
  for (std::uint32_t number = 0; number < count.numbers; ++number) {
    cells.push_back(cell_of(number, count));
  }
  for (const SmRow& row : sms_of(report, gpu_id)) cells[row.sm] = cell_of(row);
  return cells;
}

std::string figure_of(const Report& report, std::uint32_t gpu_id) {
  const std::vector<HeatCell> cells = cells_of(report, gpu_id);
  const std::string where = place_of(report, gpu_id);
  HeatMap map{.title = "SMs of " + where, .rows = {}, .columns = {}, .cells = {}};
  for (std::uint32_t i = 0; i < std::min<std::size_t>(kAcross, cells.size()); ++i) {
    map.columns.push_back(fmt::format("+{}", i));
  }
  for (std::size_t first = 0; first < cells.size(); first += kAcross) {
    map.rows.push_back(fmt::format("SM {}", first));
    const auto from = cells.begin() + static_cast<std::ptrdiff_t>(first);
    const std::size_t count = std::min<std::size_t>(kAcross, cells.size() - first);
    map.cells.emplace_back(from, from + static_cast<std::ptrdiff_t>(count));
  }
  return fmt::format("<figure><figcaption>{}</figcaption>\n{}</figure>\n", for_html(where),
                     svg_of(map));
}

/// How much there is to see: 0 failed rows, 1 SMs that were not visited, 2 nothing.
int rank_of_gpu(const Report& report, std::uint32_t gpu_id) {
  const std::span<const SmRow> sms = sms_of(report, gpu_id);
  if (std::any_of(sms.begin(), sms.end(), [](const SmRow& row) { return row.rows_failed > 0; })) {
    return 0;
  }
  return sm_count_of(report, gpu_id).all_visited() ? 2 : 1;
}

}  // namespace

std::string html_sms(const Report& report, const HtmlLimits& limits) {
  const SmLines lines = sm_lines(report);
  if (lines.visited.empty()) return {};
  std::string made = fmt::format("<p>{}</p>\n", for_html(lines.visited));
  const std::size_t shown = std::min(limits.sm_maps, lines.failed.size());
  if (shown > 0) made += "<ul>\n";
  for (std::size_t i = 0; i < shown; ++i) {
    made += fmt::format("<li>{}</li>\n", for_html(lines.failed[i]));
  }
  if (shown > 0) made += "</ul>\n";
  made += html_left_out(lines.failed.size() - shown, "GPU");
  made += fmt::format(
      "<p class=\"legend\"><span>{}no row failed</span><span>{}F rows failed: the larger "
      "their share, the redder</span><span>{}- never visited</span></p>\n<div class=\"maps\">\n",
      heat_swatch("cell-good"), heat_swatch("cell-bad"), heat_swatch("cell-none"));
  const auto gpus = most_telling(report.gpus.size(), limits.sm_maps, [&](std::size_t gpu) {
    return rank_of_gpu(report, static_cast<std::uint32_t>(gpu));
  });
  for (const std::size_t gpu : gpus) made += figure_of(report, static_cast<std::uint32_t>(gpu));
  return made + "</div>\n" + html_left_out(report.gpus.size() - gpus.size(), "GPU");
}

}  // namespace tidemark::reports
