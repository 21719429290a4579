// Which SMs rows visited, and on which of them rows failed: lines, and a map a GPU.
#include <fmt/format.h>
#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include "reports/base/statistics.hpp"
#include "reports/base/words.hpp"
#include "reports/document/report/document.hpp"

namespace tidemark {

// Which SMs rows visited, and on which of them rows failed, in lines for every rendering.

namespace {

double share_of(const SmRow& row) {
  return static_cast<double>(row.rows_failed) / static_cast<double>(row.rows_run);
}

/// "132 of 132", "24" where the GPU's SMs are not counted, or "none".
std::string text_of(const SmCount& count) {
  if (count.visited == 0) return "none";
  return count.sms == 0 ? fmt::format("{}", count.visited)
                        : fmt::format("{} of {}", count.visited, count.sms);
}

/// SMs of one GPU on which rows failed, the worst first.
struct FailedSms {
  std::uint32_t gpu_id = 0;
  std::size_t visited = 0;
  std::vector<const SmRow*> rows = {};
};

std::vector<FailedSms> failed_sms(const Report& report) {
  std::vector<FailedSms> made;
  for (const GpuRow& gpu : report.gpus) {
    const std::span<const SmRow> sms = sms_of(report, gpu.gpu_id);
    FailedSms failed{.gpu_id = gpu.gpu_id, .visited = sms.size()};
    for (const SmRow& row : sms) {
      if (row.rows_failed > 0) failed.rows.push_back(&row);
    }
    if (failed.rows.empty()) continue;
    std::ranges::sort(failed.rows, [](const auto* a, const auto* b) {
      return std::tuple(-share_of(*a), b->rows_failed, a->sm) <
             std::tuple(-share_of(*b), a->rows_failed, b->sm);
    });
    made.push_back(std::move(failed));
  }
  // Rows that fail on one SM alone point at that SM; those of all SMs at GPU, driver or case.
  std::ranges::stable_sort(made, {}, [](const auto& of) { return of.rows.size(); });
  return made;
}

std::string line_of(const Report& report, const FailedSms& failed) {
  constexpr std::size_t kNamed = 4;
  const auto text = [](const SmRow& row) {
    return fmt::format("SM {}: {} of {}", row.sm, grouped(row.rows_failed), grouped(row.rows_run));
  };
  const std::string where = place_of(report, failed.gpu_id);
  if (failed.rows.size() == 1) {
    const SmRow& only = *failed.rows.front();
    // One row visits few SMs, and may fail on whichever that is.
    return fmt::format("{}: {} rows failed{}", where, text(only),
                       only.rows_failed > 1 ? ", no other SM failed" : "");
  }
  std::string made = fmt::format("{}: rows failed on {} of {} SMs; most on ", where,
                                 failed.rows.size(), failed.visited);
  for (std::size_t i = 0; i < std::min(kNamed, failed.rows.size()); ++i) {
    made += (i == 0 ? "" : ", ") + text(*failed.rows[i]);
  }
  return made;
}

/// The median of what is known of the GPU's SMs; 0 where that is of few.
double median_of_known(std::span<const SmRow> sms, double SmRow::*figure) {
  constexpr std::size_t kFewest = 16;
  std::vector<double> known;
  known.reserve(sms.size());
  for (const SmRow& row : sms)
    if (row.*figure > 0) known.push_back(row.*figure);
  return known.size() < kFewest ? 0 : median_of(std::move(known));
}

/// SMs of one GPU are alike: of the 132 of an H200 the slowest copies 0.3 % less from L2 than the
/// fastest, and its latency is 4 % longer (h200-204-cases.h5).
std::vector<std::string> slow_lines(const Report& report) {
  std::vector<std::string> made;
  for (const GpuRow& gpu : report.gpus) {
    const std::span<const SmRow> sms = sms_of(report, gpu.gpu_id);
    const std::string where = place_of(report, gpu.gpu_id);
    const double rate = median_of_known(sms, &SmRow::rate);
    const double latency = median_of_known(sms, &SmRow::latency);
    for (const SmRow& row : sms) {
      if (row.rate > 0 && row.rate < 0.97 * rate)
        made.push_back(fmt::format("{}: SM {} is slow: {:.1f} GB/s from L2, the median SM {:.1f}",
                                   where, row.sm, row.rate, rate));
      if (latency > 0 && row.latency > 1.5 * latency)
        made.push_back(
            fmt::format("{}: SM {} is slow: a load in {:.0f} cycles, the median SM {:.0f}", where,
                        row.sm, row.latency, latency));
    }
  }
  return made;
}

/// GPUs that share a text.
struct Visited {
  std::string text;
  std::vector<std::uint32_t> gpus;
};

/// Those of the most GPUs first, then those that lack the most.
std::vector<Visited> visited_groups(const Report& report) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, Visited> groups;
  for (const GpuRow& gpu : report.gpus) {
    const SmCount count = sm_count_of(report, gpu.gpu_id);
    Visited& group = groups[{count.visited, count.sms}];
    group.text = text_of(count);
    group.gpus.push_back(gpu.gpu_id);
  }
  std::vector<Visited> made;
  made.reserve(groups.size());
  for (auto& [key, group] : groups) made.push_back(std::move(group));
  const auto largest =
      std::ranges::max_element(made, {}, [](const auto& of) { return of.gpus.size(); });
  if (largest != made.end()) std::rotate(made.begin(), largest, largest + 1);
  return made;
}

}  // namespace

std::span<const SmRow> sms_of(const Report& report, std::uint32_t gpu_id) {
  // equal_range() gives a subrange, which clang 14 does not take from libstdc++ 12.
  return {std::ranges::lower_bound(report.sms, gpu_id, {}, &SmRow::gpu_id),
          std::ranges::upper_bound(report.sms, gpu_id, {}, &SmRow::gpu_id)};
}

SmCount sm_count_of(const Report& report, std::uint32_t gpu_id) {
  const std::span<const SmRow> sms = sms_of(report, gpu_id);
  const std::uint32_t reported = report.gpus[gpu_id].sm_count;
  SmCount made{.visited = static_cast<std::uint32_t>(sms.size())};
  if (reported >= made.visited && reported <= kMostSms) made.sms = reported;
  made.numbers = std::max(made.sms, sms.empty() ? 0 : sms.back().sm + 1);
  return made;
}

SmLines sm_lines(const Report& report) {
  constexpr std::size_t kGroups = 4, kRanges = 8;
  SmLines made;
  if (report.sms.empty()) return made;
  const std::vector<Visited> groups = visited_groups(report);
  made.visited = "SMs: ";
  if (groups.size() == 1) {
    const std::size_t gpus = groups[0].gpus.size();
    made.visited += groups[0].text + " visited";
    if (gpus > 1) made.visited += fmt::format(" on each of {}", plural(gpus, "GPU"));
  } else {
    made.visited += "visited ";
    for (std::size_t i = 0; i < std::min(kGroups, groups.size()); ++i) {
      made.visited +=
          fmt::format("{}{} on GPU{} {}", i == 0 ? "" : "; ", groups[i].text,
                      groups[i].gpus.size() == 1 ? "" : "s", first_ranges(groups[i].gpus, kRanges));
    }
    if (groups.size() > kGroups) made.visited += "; others on other GPUs";
  }
  for (const FailedSms& failed : failed_sms(report)) {
    made.named.push_back(line_of(report, failed));
  }
  std::ranges::move(slow_lines(report), std::back_inserter(made.named));
  return made;
}

// A map a GPU of its SMs: gray where no row came, red by the share of rows that failed.

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
  if (row.rate > 0) cell.label += fmt::format(", {:.1f} GB/s from L2", row.rate);
  if (row.rows_failed == 0) return cell;
  cell.kind = HeatKind::bad;
  cell.mark = 'F';
  cell.share = share_of(row);
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
  HeatMap map{.title = where, .captioned = true};
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
  if (std::ranges::any_of(sms, [](const SmRow& row) { return row.rows_failed > 0; })) {
    return 0;
  }
  return sm_count_of(report, gpu_id).all_visited() ? 2 : 1;
}

}  // namespace

Section sm_maps_of(const Report& report, const ShowOptions& options) {
  Section made{.id = "sms", .heading = "SMs", .link = "SMs", .readers = kOnPage};
  const SmLines lines = sm_lines(report);
  if (lines.visited.empty()) return made;
  const std::size_t most = options.most(32);
  made.add(List{lines.named.size(), {.page = most}, "line", [lines](std::size_t i) {
                  return Line{.text = {lines.named[i]}};
                }});
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

}  // namespace tidemark
