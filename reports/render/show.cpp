// Puts a shown report together; what a person needs first comes first.
#include "reports/render/show.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/render/health.hpp"
#include "reports/render/parts.hpp"
#include "reports/schema/verdict_kinds.hpp"

namespace tidemark::reports {
namespace {

void put_summary(Page& page, const Report& report) {
  const Summary summary = summary_of(report);
  const LaunchRow& launch = report.launch;
  const std::string result = fmt::format("RESULT: {}", summary.word);
  put(page, summary.colour, result.size(),
      fmt::format("{}{}  {} x {}: {} ({} planned)", result, launch.is_virtual ? " (VIRTUAL)" : "",
                  plural(report.cases.size(), "case"), plural(launch.gpus, "GPU"),
                  counts_of(summary), grouped(summary.planned)),
      8);
  if (!launch.complete) {
    const std::string_view banner = "INCOMPLETE REPORT:";
    put(page, Colour::yellow, banner.size(), fmt::format("{} {}", banner, launch.incomplete_reason),
        8);
  }
  if (summary.planned > 0 && summary.verdicts[static_cast<std::size_t>(Verdict::pass)] == 0) {
    put(page, "nothing passed: this report says nothing good about any GPU");
  }
  if (const std::string slowed = slowed_text(report); !slowed.empty()) {
    const std::string_view banner = "SLOWED ON PURPOSE:";
    put(page, Colour::yellow, banner.size(),
        fmt::format("{} {}; these numbers say nothing about the GPUs", banner, slowed), 8);
  }
  if (launch.is_virtual) put(page, "VIRTUAL device: nothing here was measured on a GPU");
  std::uint64_t planned = 0, run = 0, failed = 0;
  for (const ResultRow& result_row : report.results) {
    planned += result_row.rows_planned;
    run += result_row.rows_run;
    failed += result_row.rows_failed;
  }
  const std::string time = time_line(report);
  put(page,
      fmt::format("rows: {} of {} run, {} failed{}{}", grouped(run), grouped(planned),
                  grouped(failed), time.empty() ? "" : "; ", time),
      5);
}

void put_hardware(Page& page, const Report& report, bool all) {
  constexpr std::size_t kShown = 4;
  constexpr std::string_view kBanner = "HARDWARE:";
  const std::vector<std::string> lines = hardware_lines(report);
  const std::size_t shown = all ? lines.size() : std::min(kShown, lines.size());
  for (std::size_t i = 0; i < shown; ++i)
    put(page, Colour::yellow, kBanner.size(), fmt::format("{} {}", kBanner, lines[i]), 8);
  put_left_out(page, lines.size() - shown, "GPU");
}

void put_sms(Page& page, const Report& report, bool all) {
  constexpr std::size_t kShown = 4;
  const SmLines lines = sm_lines(report);
  if (lines.visited.empty()) return;
  put(page, lines.visited, 5);
  const std::size_t shown = all ? lines.failed.size() : std::min(kShown, lines.failed.size());
  for (std::size_t i = 0; i < shown; ++i) put(page, "     " + lines.failed[i], 7);
  put_left_out(page, lines.failed.size() - shown, "GPU");
}

}  // namespace

Summary summary_of(const Report& report) {
  Summary made;
  made.planned = report.results.size();
  for (const ResultRow& result : report.results) {
    ++made.verdicts[static_cast<std::size_t>(result.verdict)];
  }
  bool failed = false;
  made.lacking =
      !report.launch.complete || made.verdicts[static_cast<std::size_t>(Verdict::pass)] == 0;
  for (std::size_t i = 0; i < kVerdicts; ++i) {
    if (made.verdicts[i] == 0) continue;
    failed = failed || is_bad(static_cast<Verdict>(i));  // only a strict launch has unexpected_pass
    made.lacking = made.lacking || is_lacking(static_cast<Verdict>(i));
  }
  made.word = failed ? "FAIL" : made.lacking ? "INCOMPLETE" : "PASS";
  made.colour = failed ? Colour::red : made.lacking ? Colour::yellow : Colour::green;
  return made;
}

std::string counts_of(const Summary& summary) {
  std::string made;
  for (std::size_t i = 0; i < kVerdicts; ++i) {
    if (summary.verdicts[i] == 0) continue;
    if (!made.empty()) made += ", ";
    made += fmt::format("{} {}", grouped(summary.verdicts[i]), kVerdictNames[i]);
  }
  return made.empty() ? "nothing was planned" : made;
}

std::string show(const Report& report, const ShowOptions& options) {
  switch (options.format) {
    case Format::json:
      return json_of(report);
    case Format::markdown:
      return markdown_of(report, options);
    case Format::csv:
      return csv_of(report);
    case Format::junit:
      return junit_of(report, options);
    case Format::html:
      return html_of(report, options);
    case Format::terminal:
      break;
  }
  Page page{.text = {}, .colour = options.colour, .columns = options.columns};
  put_summary(page, report);
  put_hardware(page, report, options.all);
  put_sms(page, report, options.all);
  put_results(page, report, options);
  put_waivers(page, report);
  put_metrics(page, report, options);
  put_outliers(page, report, options);
  put_notes(page, report, options);
  put_events(page, report, options);
  put_origin(page, report, options);
  return page.text;
}

std::string show_metrics(const Report& report, const ShowOptions& options) {
  Page page{.text = {}, .colour = options.colour, .columns = options.columns};
  put_metrics(page, report, options);
  return page.text;
}

}  // namespace tidemark::reports
