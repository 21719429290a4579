// A map a GPU of its SMs: gray where no row came, red by the share of rows that failed.
#include <fmt/format.h>

#include <algorithm>

#include "reports/base/words.hpp"
#include "reports/document/report/document.hpp"

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

HeatMap map_of_sms(const Report& report, std::uint32_t gpu_id) {
  const std::vector<HeatCell> cells = cells_of(report, gpu_id);
  const std::string where = place_of(report, gpu_id);
  HeatMap map{.title = where, .rows = {}, .columns = {}, .cells = {}, .captioned = true};
  for (std::uint32_t i = 0; i < std::min<std::size_t>(kAcross, cells.size()); ++i) {
    map.columns.push_back(fmt::format("+{}", i));
  }
  for (std::size_t first = 0; first < cells.size(); first += kAcross) {
    map.rows.push_back(fmt::format("SM {}", first));
    const auto from = cells.begin() + static_cast<std::ptrdiff_t>(first);
    const std::size_t count = std::min<std::size_t>(kAcross, cells.size() - first);
    map.cells.emplace_back(from, from + static_cast<std::ptrdiff_t>(count));
  }
  return map;
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

Section sm_maps_of(const Report& report, const ShowOptions& options) {
  Section made{.id = "sms", .heading = "SMs", .link = "SMs"};
  const SmLines lines = sm_lines(report);
  if (lines.visited.empty()) return made;
  const std::size_t most = options.most(0, 32);
  const std::size_t shown = std::min(most, lines.failed.size());
  for (std::size_t i = 0; i < shown; ++i) made.add(Line{.text = {lines.failed[i]}});
  made.leave_out(lines.failed.size(), shown, "GPU");
  made.add(Legend{{{{"cell-good"}, "no row failed"},
                   {{"cell-bad"}, "F rows failed: the larger their share, the redder"},
                   {{"cell-none"}, "- never visited"}}});
  const auto gpus = most_telling(report.gpus.size(), most, [&](std::size_t gpu) {
    return rank_of_gpu(report, static_cast<std::uint32_t>(gpu));
  });
  for (const std::size_t gpu : gpus) made.add(map_of_sms(report, static_cast<std::uint32_t>(gpu)));
  made.leave_out(report.gpus.size(), gpus.size(), "GPU");
  return made;
}

}  // namespace tidemark::reports
