// A comparison as Markdown: verdict and cause, what changed with replay lines, speed, what else
// differs. Text of reports stands in code spans.
#include <fmt/format.h>

#include <cmath>

#include "reports/compare/places.hpp"
#include "reports/compare/told.hpp"
#include "reports/render/comparison.hpp"
#include "reports/render/escape.hpp"
#include "reports/render/markdown.hpp"
#include "reports/render/page.hpp"

namespace tidemark::reports {
namespace {

void put_head(MarkdownPage& page, const Comparison& comparison) {
  const bool is_virtual = comparison.pairing.launches.front()->launch.is_virtual;
  put_block(page,
            fmt::format("## tidemark: {}{}: {}\n\n{} x {}, {}\n\n- cause: {}\n- {}\n- {}\n",
                        headline_of(comparison), is_virtual ? " (VIRTUAL)" : "",
                        action_text(comparison), plural(comparison.pairing.cases.size(), "case"),
                        plural(comparison.paired_gpus, "paired GPU"), launches_text(comparison),
                        for_markdown(cause_text(comparison)), results_text(comparison),
                        speed_text(comparison)));
  const std::string smallest = smallest_text(comparison);
  if (const std::string more = more_launches_text(comparison); !more.empty()) {
    put_block(page, fmt::format("- {}\n", more));
  }
  put_block(page, smallest.empty() ? "\n" : fmt::format("- {}\n\n", smallest));
  if (is_virtual) put_block(page, "**VIRTUAL device: nothing here was measured on a GPU.**\n\n");
  for (const std::string& line : warnings_of(comparison)) {
    const std::size_t heading = line.find(':') + 1;
    put_block(page, fmt::format("**{}** {}\n\n", line.substr(0, heading),
                                for_markdown(line.substr(heading + 1))));
  }
}

void put_changes(MarkdownPage& page, const Comparison& comparison) {
  if (comparison.conformance.groups.empty()) return;
  put_block(page, "### What changed\n\n");
  for (const ChangeGroup& group : comparison.conformance.groups) {
    std::string block = fmt::format("**{}** {} on {}", heading_of(group.kind),
                                    for_markdown(cases_of(comparison.pairing, group.cases)),
                                    for_markdown(place_of(comparison.pairing, group.gpus)));
    const Evidence* evidence = evidence_of(comparison, group);
    const bool told = evidence != nullptr && !is_good(group.kind);
    if (told) block += fmt::format("<br>\n{}", for_markdown(evidence->reason));
    block += "\n\n";
    if (told && !evidence->replay.empty()) block += fenced_command(evidence->replay) + "\n";
    put_block(page, block);
  }
}

std::string percent_text(double logarithm) {
  return std::isnan(logarithm) ? "-" : percent(logarithm);
}

void put_speed(MarkdownPage& page, const Comparison& comparison) {
  const std::vector<const SpeedFinding*> told = speed_in_order(comparison, false);
  const std::string shared = shared_text(comparison);
  const std::vector<GpuFindings> apart = gpu_findings(comparison);
  if (told.empty() && shared.empty() && apart.empty()) return;
  put_block(page, "### Speed\n\n");
  if (!shared.empty()) put_block(page, fmt::format("- **{}**\n", shared));
  for (const GpuFindings& group : apart) {
    put_block(page, fmt::format("- {}\n", for_markdown(text_of(comparison, group))));
  }
  if (told.empty()) return put_block(page, "\n");
  put_block(
      page,
      "\n| verdict | case | metric | before | after | unit | in all | of its own | +- | others "
      "of the model | GPUs | why |\n|---|---|---|--:|--:|---|--:|--:|--:|--:|--:|---|\n");
  for (const SpeedFinding* finding : told) {
    const bool compared = finding->verdict != SpeedVerdict::not_compared;
    const auto number = [&](double value) { return compared ? short_number(value) : "-"; };
    const auto change = [&](double value) { return compared ? percent_text(value) : "-"; };
    put_block(page, fmt::format("| {}{} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
                                finding->waived ? "waived " : "", name_of(finding->verdict),
                                for_markdown(comparison.pairing.cases[finding->of_case]),
                                for_markdown(finding->metric), number(finding->base_value),
                                number(finding->fresh_value), for_markdown(finding->unit),
                                change(finding->total), change(finding->own.effect),
                                change(finding->own.margin()), for_markdown(finding->reference),
                                finding->gpus, for_markdown(finding->why)));
  }
  put_block(page, "\n");
}

void put_setup(MarkdownPage& page, const Comparison& comparison) {
  for (const WaiverLedger::Line& waiver : comparison.waivers) {
    put_block(page, fmt::format("- waiver {}\n", for_markdown(waiver.text)));
  }
  put_block(page, "\n### What else differs\n\n");
  if (comparison.setup.differences.empty()) put_block(page, "Nothing that was recorded.\n");
  for (const SetupDifference& difference : comparison.setup.differences) {
    put_block(page, fmt::format("- {} {}: {} -> {}\n", role_of(difference),
                                for_markdown(difference.factor), for_markdown(difference.base),
                                for_markdown(difference.fresh)));
  }
  for (const std::string& note : notes_of(comparison)) {
    put_block(page, fmt::format("- note: {}\n", for_markdown(note)));
  }
}

}  // namespace

std::string comparison_markdown(const Comparison& comparison) {
  // Each part has room of its own: a thousand changes must not drive out what else differs.
  MarkdownPage head{.text = {}, .most = 4'000}, changes{.text = {}, .most = 32'000},
      speed{.text = {}, .most = 16'000}, setup{.text = {}, .most = 7'000};
  put_head(head, comparison);
  put_changes(changes, comparison);
  put_speed(speed, comparison);
  put_setup(setup, comparison);
  MarkdownPage page;
  for (const MarkdownPage& part : {head, changes, speed, setup}) {
    page.text += part.text;
    page.left_out += part.left_out;
  }
  return finished(page, "tidemark compare");
}

}  // namespace tidemark::reports
