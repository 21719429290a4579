// A report as Markdown: the verdict, what did not pass with its replay lines, what was measured,
// and what it was made on. Text of the report stands in code spans.
#include <fmt/format.h>

#include <algorithm>

#include "reports/render/escape.hpp"
#include "reports/render/groups.hpp"
#include "reports/render/health.hpp"
#include "reports/render/markdown.hpp"
#include "reports/render/measured.hpp"
#include "reports/render/parts.hpp"
#include "reports/store/ranges.hpp"

namespace tidemark::reports {
namespace {

void put_head(MarkdownPage& page, const Report& report) {
  const Summary summary = summary_of(report);
  const LaunchRow& launch = report.launch;
  put_block(page,
            fmt::format("## tidemark: {}{}\n\n{} x {}: {} ({} planned)\n\n", summary.word,
                        launch.is_virtual ? " (VIRTUAL)" : "", plural(report.cases.size(), "case"),
                        plural(launch.gpus, "GPU"), counts_of(summary), grouped(summary.planned)));
  if (launch.is_virtual) {
    put_block(page, "**VIRTUAL device: nothing here was measured on a GPU.**\n\n");
  }
  if (const std::string slowed = slowed_text(report); !slowed.empty()) {
    put_block(page, fmt::format("**SLOWED ON PURPOSE:** {}\n\n", for_markdown(slowed)));
  }
  if (const std::string time = time_line(report); !time.empty())
    put_block(page, for_markdown(time) + "\n\n");
  constexpr std::size_t kShown = 8;  // GPUs
  const std::vector<std::string> lines = hardware_lines(report);
  for (std::size_t i = 0; i < std::min(kShown, lines.size()); ++i)
    put_block(page, fmt::format("**HARDWARE:** {}\n\n", for_markdown(lines[i])));
  if (lines.size() > kShown)
    put_block(page,
              fmt::format("**HARDWARE:** and {}\n\n", plural(lines.size() - kShown, "more GPU")));
  if (!launch.complete) {
    put_block(page,
              fmt::format("**INCOMPLETE REPORT:** {}\n\n", for_markdown(launch.incomplete_reason)));
  }
}

std::string where_of(const Report& report, const ResultGroup& group) {
  if (group.gpus.size() == 1) return for_markdown(place_of(report, group.gpus.front()));
  return fmt::format("{}: {}", plural(group.gpus.size(), "GPU"), ranges(group.gpus).substr(0, 200));
}

/// "`zfill.corner`", or "`zfill.corner` and 3 more".
std::string cases_of(const Report& report, const ResultGroup& group) {
  std::string first = for_markdown(report.cases[group.cases.front()].name.view());
  if (group.cases.size() == 1) return first;
  return fmt::format("{} and {} more", first, grouped(group.cases.size() - 1));
}

void put_findings(MarkdownPage& page, const Report& report, const ShowOptions& options) {
  const std::vector<ResultGroup> groups = result_groups(report, false);
  if (groups.empty()) return;
  put_block(page, "### What did not pass\n\n");
  for (const ResultGroup& group : groups) {
    const ResultRow& first = report.results[group.results.front()];
    std::string block = fmt::format("**{}** {} on {}", heading_of(group.verdict),
                                    cases_of(report, group), where_of(report, group));
    const std::string reason = for_markdown(group.reason);
    if (!reason.empty()) block += fmt::format("<br>\n{}", reason);
    block += "\n\n";
    const std::string_view replay = report.text(first.replay);
    if (!replay.empty() && !is_listed(group.verdict)) block += fenced_command(replay) + "\n";
    if (!is_listed(group.verdict)) {
      const std::string program = program_command(options, group.results.front());
      if (!program.empty()) block += "program:\n\n" + fenced_command(program) + "\n";
    }
    put_block(page, block);
  }
}

void put_sms(MarkdownPage& page, const Report& report) {
  constexpr std::size_t kShown = 4;
  const SmLines lines = sm_lines(report);
  if (lines.visited.empty()) return;
  put_block(page, lines.visited + "\n\n");
  const std::size_t shown = std::min(kShown, lines.failed.size());
  for (std::size_t i = 0; i < shown; ++i) {
    put_block(page, fmt::format("- {}\n", for_markdown(lines.failed[i])));
  }
  if (lines.failed.size() > shown) {
    put_block(page, fmt::format("- and {}\n", plural(lines.failed.size() - shown, "more GPU")));
  }
  if (shown > 0) put_block(page, "\n");
}

void put_waivers(MarkdownPage& page, const Report& report) {
  const std::vector<std::string> waivers = waiver_lines(report);
  if (waivers.empty()) return;
  put_block(page, "### Waivers\n\n");
  for (const std::string& waiver : waivers)
    put_block(page, fmt::format("- {}\n", for_markdown(waiver)));
  put_block(page, "\n");
}

void put_measured(MarkdownPage& page, const Report& report) {
  const auto measured = measured_of(report);
  if (measured.empty()) return;
  put_block(page, fmt::format("### What was measured{}\n\n"
                              "Only GPUs count on which the case passed.\n\n",
                              report.launch.is_virtual ? " on the VIRTUAL device" : ""));
  put_block(page,
            "| case | metric | GPUs | median of GPUs | least | greatest | unit |\n"
            "|---|---|--:|--:|--:|--:|---|\n");
  for (const auto& [case_id, all] : measured) {
    for (const Measured& one : all) {
      std::vector<double> medians;
      for (const MetricRow* row : counted_of(report, one)) medians.push_back(row->median);
      const Statistics of = statistics_of(std::move(medians));
      put_block(page,
                fmt::format("| {} | {} | {} of {} | {} | {} | {} | {} |\n",
                            for_markdown(report.cases[case_id].name.view()), for_markdown(one.name),
                            of.finite, one.rows.size(), short_number(of.median),
                            short_number(of.min), short_number(of.max), for_markdown(one.unit)));
    }
  }
  put_block(page, "\n");
}

void put_outliers(MarkdownPage& page, const Report& report) {
  const Outliers outliers = outliers_of(report);
  const std::string summary = summary_of(report, outliers);
  if (summary.empty()) return;
  put_block(page, fmt::format("### GPUs against each other\n\n{}\n\n", summary));
  for (const OutlierGroup& group : outliers.groups) {
    put_block(page, fmt::format("- {}\n", for_markdown(text_of(group))));
  }
  if (!outliers.groups.empty()) put_block(page, "\n");
}

void put_made_on(MarkdownPage& page, const Report& report) {
  put_block(page, "### Made on\n\n");
  for (const Fact& fact : facts_of(report)) {
    put_block(page, fmt::format("- {}: {}\n", fact.name, for_markdown(fact.value)));
  }
}

}  // namespace

std::string markdown_of(const Report& report, const ShowOptions& options) {
  // Each part has room of its own: a thousand failures must not drive out what they happened on.
  MarkdownPage head{.text = {}, .most = 2'000}, sms{.text = {}, .most = 2'000},
      findings{.text = {}, .most = 34'000}, measured{.text = {}, .most = 14'000},
      made_on{.text = {}, .most = 7'000};
  put_head(head, report);
  put_sms(sms, report);
  put_findings(findings, report, options);
  put_waivers(findings, report);
  put_outliers(findings, report);
  put_measured(measured, report);
  put_made_on(made_on, report);
  MarkdownPage page;
  for (const MarkdownPage& part : {head, sms, findings, measured, made_on}) {
    page.text += part.text;
    page.left_out += part.left_out;
  }
  return finished(page, "tidemark show");
}

}  // namespace tidemark::reports
