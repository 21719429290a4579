// A history as Markdown: which cases fail since when, what changed with what else changed then, and
// how every metric went. Text of reports stands in code spans.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/render/escape.hpp"
#include "reports/render/markdown.hpp"
#include "reports/render/page.hpp"
#include "reports/render/show_history.hpp"

namespace tidemark::reports {
namespace {

void put_head(MarkdownPage& page, const History& history, const ShowHistoryOptions& options) {
  const Chronicle& all = history.chronicle;
  const auto counted = [&](auto has) {
    return static_cast<std::size_t>(std::count_if(all.launches.begin(), all.launches.end(), has));
  };
  const std::size_t virtual_ones = counted([](const auto& each) { return each.is_virtual; });
  const std::size_t incomplete =
      counted([](const auto& each) { return !each.incomplete_reason.empty(); });
  put_block(page, fmt::format(
                      "## tidemark history{}\n\n{} from {} to {}, {}\n\n- cases: {}\n"
                      "- speed: {}\n\n",
                      virtual_ones == all.launches.size() ? " (VIRTUAL)" : "",
                      launches_text(all.launches.size()), utc_text(all.launches.front().at_unix_s),
                      utc_text(all.launches.back().at_unix_s), plural(all.gpus.size(), "GPU"),
                      cases_summary(history), metrics_summary(history)));
  if (virtual_ones > 0) {
    put_block(page, fmt::format("**{} on the VIRTUAL device: measured on no GPU.**\n\n",
                                launches_text(virtual_ones)));
  }
  if (incomplete > 0) {
    put_block(page, fmt::format("**{} ended early: their reports are incomplete.**\n\n",
                                launches_text(incomplete)));
  }
  if (!options.refused.empty()) {
    put_block(page,
              fmt::format("**{} could not be read.**\n\n", plural(options.refused.size(), "file")));
  }
  for (const std::string& line : slowed_launches(history)) {
    put_block(page, fmt::format("**SLOWED ON PURPOSE:** {}\n\n", for_markdown(line)));
  }
}

void put_cases(MarkdownPage& page, const History& history) {
  const Chronicle& all = history.chronicle;
  bool first = true;
  for (const CasePast& past : history.cases) {
    const bool over = past.state == CaseState::passing || past.state == CaseState::quiet;
    if (over && !past.first_bad) continue;
    if (first) {
      put_block(page,
                "### Cases that fail, failed or have no answer\n\n"
                "| now | case | since | launches that failed it | changed since it passed |\n"
                "|---|---|---|--:|---|\n");
    }
    first = false;
    const bool dated = over || past.state == CaseState::failing || past.state == CaseState::waived;
    put_block(page,
              fmt::format("| {}{} | {} | {} | {} of {} | {} |\n", name_of(past.state),
                          past.is_virtual ? " (VIRTUAL)" : "", for_markdown(past.name),
                          dated ? utc_text(all.launches[past.since].at_unix_s) : std::string("-"),
                          grouped(past.launches_bad), grouped(past.results->size()),
                          past.state == CaseState::failing ? for_markdown(setup_text(past.setup, 6))
                                                           : std::string("-")));
  }
  if (!first) put_block(page, "\n");
}

void put_events(MarkdownPage& page, const History& history) {
  if (history.events.empty()) return;
  const Chronicle& all = history.chronicle;
  put_block(page, "### What changed, the newest first\n\nAdvice and no verdict.\n\n");
  for (const ChangeEvent& event : history.events) {
    constexpr std::size_t kOfEvent = 8;
    std::string block = fmt::format(
        "**{}** with it{}: {}\n\n", utc_text(all.launches[event.after].at_unix_s),
        event.gpu == kNoRow ? "" : " on that GPU", for_markdown(setup_text(event.setup, 8)));
    const std::size_t shown = std::min(kOfEvent, event.changes.size());
    for (std::size_t i = 0; i < shown; ++i) {
      const LevelChange& change = history.changes[event.changes[i]];
      const MetricKey& key = history.metrics[change.metric].key;
      block += fmt::format("- {} {} {} {}, {}\n", change.is_worse(key) ? "worse" : "better",
                           step_text(change.step), for_markdown(title_of(key)),
                           for_markdown(levels_text(history, change)),
                           for_markdown(gpu_text(history, change)));
    }
    if (event.changes.size() > shown) {
      block += fmt::format("- and {}\n", plural(event.changes.size() - shown, "more metric"));
    }
    put_block(page, block + "\n");
  }
}

void put_metrics(MarkdownPage& page, const History& history) {
  if (history.metrics.empty()) return;
  put_block(page,
            "### Metrics\n\n| metric | launches | first | last | change | unit | judged |\n"
            "|---|--:|--:|--:|--:|---|---|\n");
  for (const bool changed : {true, false}) {
    for (const MetricPast& metric : history.metrics) {
      if ((metric.judged == Judged::changed) != changed) continue;
      const MetricLevels levels = levels_of(history.chronicle, *metric.values);
      put_block(page, fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n",
                                  for_markdown(title_of(metric.key)), levels.launches.size(),
                                  short_number(std::exp(levels.typical.front())),
                                  short_number(std::exp(levels.typical.back())),
                                  step_text(levels.typical.back() - levels.typical.front()),
                                  for_markdown(metric.key.unit), name_of(metric.judged)));
    }
  }
  put_block(page, "\n");
}

}  // namespace

std::string history_markdown(const History& history, const ShowHistoryOptions& options) {
  // Each part has room of its own, as in the page of one report.
  MarkdownPage head{.text = {}, .most = 5'000}, cases{.text = {}, .most = 18'000},
      events{.text = {}, .most = 18'000}, metrics{.text = {}, .most = 18'000};
  put_head(head, history, options);
  put_cases(cases, history);
  put_events(events, history);
  put_metrics(metrics, history);
  MarkdownPage page;
  for (const MarkdownPage& part : {head, cases, events, metrics}) {
    page.text += part.text;
    page.left_out += part.left_out;
  }
  return finished(page, "tidemark history");
}

}  // namespace tidemark::reports
