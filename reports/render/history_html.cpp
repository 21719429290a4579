// A history as an HTML page: what changed, cases, speed, launches.
#include "reports/render/history_html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "reports/render/escape.hpp"
#include "reports/render/html/document.hpp"
#include "reports/render/page.hpp"
#include "reports/render/show_history.hpp"

namespace tidemark::reports {
namespace {

std::string banner(std::string_view text) {
  return fmt::format("<p class=\"banner\">{}</p>\n", for_html(text));
}

std::string head_of(const History& history, const ShowHistoryOptions& options) {
  const Chronicle& all = history.chronicle;
  std::size_t virtual_ones = 0, incomplete = 0;
  for (const PastLaunch& launch : all.launches) {
    virtual_ones += launch.is_virtual ? 1U : 0U;
    incomplete += launch.incomplete_reason.empty() ? 0U : 1U;
  }
  std::string made = fmt::format(
      "<header>\n<h1>tidemark history{}</h1>\n<p>{} from {} to {}, {}</p>\n<p>cases: {}</p>\n"
      "<p>speed: {}</p>\n",
      virtual_ones == all.launches.size() ? " (VIRTUAL)" : "", launches_text(all.launches.size()),
      utc_text(all.launches.front().at_unix_s), utc_text(all.launches.back().at_unix_s),
      plural(all.gpus.size(), "GPU"), cases_summary(history), metrics_summary(history));
  if (virtual_ones > 0) {
    made += banner(fmt::format(
        "{} on the VIRTUAL device: what they say was measured on no GPU, and they have series of "
        "their own.",
        launches_text(virtual_ones)));
  }
  if (incomplete > 0) {
    made += banner(fmt::format("{} ended early: their reports are incomplete, and marked.",
                               launches_text(incomplete)));
  }
  if (const std::vector<std::string> slowed = slowed_launches(history); !slowed.empty()) {
    constexpr std::size_t kNamed = 20;
    const std::size_t shown = options.all ? slowed.size() : std::min(slowed.size(), kNamed);
    made += "<div class=\"banner\">SLOWED ON PURPOSE, which says nothing about the GPUs:<ul>\n";
    for (std::size_t i = 0; i < shown; ++i) {
      made += fmt::format("<li>{}</li>\n", for_html(slowed[i]));
    }
    made += "</ul>" + history_left_out(slowed.size() - shown, "launch") + "</div>\n";
  }
  if (!options.refused.empty()) {
    made += fmt::format("<details class=\"banner\"><summary>{} not read</summary><ul>\n",
                        plural(options.refused.size(), "file"));
    for (const std::string& line : options.refused) {
      made += fmt::format("<li>{}</li>\n", for_html(line));
    }
    made += "</ul></details>\n";
  }
  return made +
         "<nav><a href=\"#changed\">what changed</a><a href=\"#cases\">cases</a>"
         "<a href=\"#speed\">speed</a><a href=\"#launches\">launches</a></nav>\n</header>\n";
}

std::string event_of(const History& history, const ChangeEvent& event,
                     const HistoryLimits& limits) {
  const Chronicle& all = history.chronicle;
  const PastLaunch &before = all.launches[event.before], &after = all.launches[event.after];
  std::string made = fmt::format(
      "<div class=\"finding\"><h3>{} <span class=\"muted\">{}</span></h3>\n"
      "<p>what else changed{}: {}</p>\n<p class=\"muted\">between <code>{}</code> and "
      "<code>{}</code></p>\n<ul>\n",
      utc_text(after.at_unix_s), plural(event.changes.size(), "change"),
      event.gpu == kNoRow ? "" : " on that GPU", for_html(setup_text(event.setup, 12)),
      for_html(before.path), for_html(after.path));
  const std::size_t shown = std::min(event.changes.size(), limits.of_event);
  for (std::size_t i = 0; i < shown; ++i) {
    const LevelChange& change = history.changes[event.changes[i]];
    const MetricKey& key = history.metrics[change.metric].key;
    const bool worse = change.is_worse(key);
    made += fmt::format("<li><span class=\"badge {}\">{} {}</span> <code>{}</code> {}, {}</li>\n",
                        worse ? "bad" : "good", worse ? "worse" : "better", step_text(change.step),
                        for_html(title_of(key)), for_html(levels_text(history, change)),
                        for_html(gpu_text(history, change)));
  }
  return made + "</ul>\n" + history_left_out(event.changes.size() - shown, "change") + "</div>\n";
}

std::string events_of(const History& history, const HistoryLimits& limits) {
  if (history.events.empty()) return "<p>No change of a metric was told.</p>\n";
  std::string made =
      "<p class=\"muted\">Advice and no verdict: a level must last three launches, and what else "
      "changed at the same time need not be the cause.</p>\n"
      "<div class=\"findings\" aria-label=\"what changed\">\n";
  const std::size_t shown = std::min(limits.events, history.events.size());
  for (std::size_t i = 0; i < shown; ++i) {
    made += event_of(history, history.events[i], limits);
  }
  return made + "</div>\n" + history_left_out(history.events.size() - shown, "event");
}

std::vector<HtmlCell> launch_row(const History& history, std::uint32_t launch,
                                 std::uint32_t before) {
  const Chronicle& all = history.chronicle;
  const PastLaunch& past = all.launches[launch];
  std::size_t bad = 0, lacking = 0;
  for (std::size_t i = 0; i < kVerdicts; ++i) {
    const auto verdict = static_cast<Verdict>(i);
    (is_bad(verdict) ? bad : lacking) +=
        is_bad(verdict) || is_lacking(verdict) ? past.verdicts[i] : 0;
  }
  const auto value = [&](std::string_view factor) {
    return text_cell(setup_value(all, launch, factor));
  };
  const std::vector<SetupChange> changed =
      before == kNoRow ? std::vector<SetupChange>{}
                       : setup_changes(all, history.restless, before, launch);
  return {{.html = utc_text(past.at_unix_s), .order = past.at_unix_s},
          {.html = fmt::format("<code title=\"{}\">{}</code>", for_html(past.path),
                               for_html(std::filesystem::path(past.path).filename().string()))},
          text_cell(past.level),
          text_cell(past.is_virtual ? "VIRTUAL" : past.device),
          count_cell(past.gpus.size()),
          count_cell(past.verdicts[static_cast<std::size_t>(Verdict::pass)]),
          count_cell(bad),
          count_cell(lacking),
          text_cell(past.incomplete_reason.empty() ? "yes" : "no: " + past.incomplete_reason),
          value("driver"),
          text_cell(changed.empty() ? "" : setup_text(changed, 6)),
          value("git_hash"),
          value("kernels_tree"),
          value("suite_tree")};
}

std::string launches_of(const History& history, const HistoryLimits& limits) {
  const Chronicle& all = history.chronicle;
  std::vector<std::uint32_t> before(all.launches.size(), kNoRow);
  for (const bool is_virtual : {false, true}) {
    std::uint32_t last = kNoRow;
    for (std::uint32_t i = 0; i < all.launches.size(); ++i) {
      if (all.launches[i].is_virtual != is_virtual) continue;
      before[i] = last;
      last = i;
    }
  }
  std::vector<std::vector<HtmlCell>> rows;
  for (std::size_t i = all.launches.size(); i-- > 0 && rows.size() < limits.table_rows;) {
    rows.push_back(launch_row(history, static_cast<std::uint32_t>(i), before[i]));
  }
  return html_table("every-launch", "launches",
                    {{"began", true},
                     {"report"},
                     {"level"},
                     {"device"},
                     {"GPUs", true},
                     {"pass", true},
                     {"wrong", true},
                     {"lacking", true},
                     {"complete"},
                     {"driver"},
                     {"changed since the one before"},
                     {"git"},
                     {"kernels"},
                     {"suite"}},
                    rows) +
         history_left_out(all.launches.size() - rows.size(), "line");
}

}  // namespace

std::string history_left_out(std::size_t number, std::string_view what) {
  if (number == 0) return {};
  return fmt::format(
      "<p class=\"muted\">... and {}: <code>tidemark history --html --all</code> has all</p>\n",
      plural(number, fmt::format("more {}", what)));
}

std::string history_html(const History& history, const ShowHistoryOptions& options) {
  const HistoryLimits limits = HistoryLimits::of(options.all);
  std::string body = head_of(history, options);
  body += html_section("changed", "What changed", events_of(history, limits));
  body += html_section("cases", "Cases", html_case_histories(history, limits));
  body += html_section("speed", "Speed", html_metric_histories(history, limits));
  body += html_section("launches", "Launches", launches_of(history, limits));
  return html_document(
      fmt::format("tidemark history: {}", utc_text(history.chronicle.launches.back().at_unix_s)),
      body);
}

}  // namespace tidemark::reports
