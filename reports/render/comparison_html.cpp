// A comparison as one HTML page: verdict and cause, what changed, where, speed, what else differs.
#include "reports/render/comparison_html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "reports/compare/places.hpp"
#include "reports/compare/told.hpp"
#include "reports/render/comparison.hpp"
#include "reports/render/escape.hpp"
#include "reports/render/html/document.hpp"
#include "reports/render/page.hpp"

namespace tidemark::reports {
namespace {

std::string banner(std::string_view text) {
  return fmt::format("<p class=\"banner\">{}</p>\n", for_html(text));
}

const char* class_of(std::string_view headline) {
  if (headline == "SAME" || headline == "IMPROVED") return "good";
  return headline == "REGRESSION" ? "bad" : "warn";
}

bool is_virtual(const Comparison& comparison) {
  return comparison.pairing.launches.front()->launch.is_virtual;
}

std::string head_of(const Comparison& comparison) {
  const std::string_view headline = headline_of(comparison);
  std::string made = fmt::format(
      "<header>\n<h1><span class=\"badge {}\">{}</span> tidemark comparison{}</h1>\n"
      "<p><strong>{}</strong>: {} x {}, {}</p>\n<p>cause: {}</p>\n<p>{}</p>\n<p>{}</p>\n",
      class_of(headline), headline, is_virtual(comparison) ? " (VIRTUAL)" : "",
      action_text(comparison), plural(comparison.pairing.cases.size(), "case"),
      plural(comparison.paired_gpus, "paired GPU"), launches_text(comparison),
      for_html(cause_text(comparison)), results_text(comparison), speed_text(comparison));
  if (const std::string smallest = smallest_text(comparison); !smallest.empty()) {
    made += fmt::format("<p class=\"muted\">{}</p>\n", smallest);
  }
  if (is_virtual(comparison)) made += banner("VIRTUAL device: nothing here was measured on a GPU.");
  for (const std::string& line : warnings_of(comparison)) made += banner(line);
  return made +
         "<nav><a href=\"#changed\">what changed</a><a href=\"#map\">where</a>"
         "<a href=\"#speed\">speed</a><a href=\"#setup\">what else differs</a>"
         "<a href=\"#launches\">launches</a></nav>\n</header>\n";
}

const char* class_of(ChangeKind kind) {
  if (is_good(kind)) return "good";
  return kind == ChangeKind::new_fail || kind == ChangeKind::flaky ? "bad" : "warn";
}

std::string change_of(const Comparison& comparison, const ChangeGroup& group) {
  constexpr std::size_t kNamed = 8;
  const std::vector<std::string>& names = comparison.pairing.cases;
  std::string cases;
  for (std::size_t i = 0; i < std::min(kNamed, group.cases.size()); ++i) {
    cases += fmt::format("{}<code>{}</code>", i == 0 ? "" : ", ", for_html(names[group.cases[i]]));
  }
  if (group.cases.size() > kNamed) {
    cases += fmt::format(" and {}", plural(group.cases.size() - kNamed, "more case"));
  }
  std::string made = fmt::format(
      "<div class=\"finding\"><h3><span class=\"badge {}\">{}</span> <span>{}</span> "
      "<span class=\"muted\">on {}</span></h3>\n",
      class_of(group.kind), heading_of(group.kind), cases,
      for_html(place_of(comparison.pairing, group.gpus)));
  const Evidence* evidence = evidence_of(comparison, group);
  if (evidence != nullptr && !is_good(group.kind)) {
    made += fmt::format("<p>{}</p>\n", for_html(evidence->reason));
    if (!evidence->replay.empty()) {
      made += fmt::format("<pre class=\"command\">{}</pre>\n", for_html(evidence->replay));
    }
  }
  return made + "</div>\n";
}

/// Of speed what is sure; what is not stands among the plots.
std::vector<std::string> speed_lines(const Comparison& comparison) {
  std::vector<std::string> made;
  if (std::string shared = shared_text(comparison); !shared.empty()) made.push_back(shared);
  for (const GpuFindings& group : gpu_findings(comparison)) {
    made.push_back(text_of(comparison, group));
  }
  for (const SpeedFinding* finding : speed_in_order(comparison, false)) {
    const bool sure =
        finding->verdict == SpeedVerdict::regressed || finding->verdict == SpeedVerdict::improved;
    if (sure) made.push_back(text_of(comparison, *finding));
  }
  return made;
}

std::string changes_of(const Comparison& comparison, const ComparisonLimits& limits) {
  const std::vector<ChangeGroup>& groups = comparison.conformance.groups;
  const std::vector<std::string> lines = speed_lines(comparison);
  std::string made = lines.empty() ? "<p>No speed changed for sure.</p>\n" : "<ul>\n";
  const std::size_t told = std::min(limits.findings, lines.size());
  for (std::size_t i = 0; i < told; ++i) made += fmt::format("<li>{}</li>\n", for_html(lines[i]));
  if (!lines.empty()) made += "</ul>\n";
  made += comparison_left_out(lines.size() - told, "line");
  if (groups.empty()) return made + "<p>No result changed.</p>\n";
  made += "<div class=\"findings\" aria-label=\"what changed\">\n";
  const std::size_t shown = std::min(limits.findings, groups.size());
  for (std::size_t i = 0; i < shown; ++i) made += change_of(comparison, groups[i]);
  return made + "</div>\n" + comparison_left_out(groups.size() - shown, "change");
}

std::string waivers_of(const Comparison& comparison) {
  if (comparison.waivers.empty()) return {};
  std::string made = "<ul>\n";
  for (const WaiverLedger::Line& waiver : comparison.waivers) {
    made += fmt::format("<li{}>{}</li>\n", waiver.attention ? " class=\"warn\"" : "",
                        for_html(waiver.text));
  }
  return html_section("waivers", "Waivers", made + "</ul>\n");
}

std::string setup_of(const Comparison& comparison) {
  std::vector<std::vector<HtmlCell>> rows;
  for (const SetupDifference& difference : comparison.setup.differences) {
    const std::string_view role = role_of(difference);
    rows.push_back({{.html = fmt::format("<span class=\"{}\">{}</span>",
                                         role == "confounder" ? "warn" : "muted", role)},
                    text_cell(difference.factor),
                    text_cell(difference.base),
                    text_cell(difference.fresh),
                    difference.gpus == 0 ? text_cell("launch") : count_cell(difference.gpus)});
  }
  std::string made =
      rows.empty() ? "<p>Nothing that was recorded differs.</p>\n"
                   : html_table("differences", "what differs",
                                {{"is"}, {"what"}, {"before"}, {"after"}, {"GPUs", true}}, rows);
  const std::vector<std::string> notes = notes_of(comparison);
  if (notes.empty()) return made;
  made += "<ul>\n";
  for (const std::string& note : notes) made += fmt::format("<li>{}</li>\n", for_html(note));
  return made + "</ul>\n";
}

std::string launches_of(const Comparison& comparison) {
  std::vector<std::vector<HtmlCell>> rows;
  const Pairing& pairing = comparison.pairing;
  for (std::size_t i = 0; i < pairing.launches.size(); ++i) {
    const LaunchFacts& facts = *pairing.launches[i];
    const auto passed = std::count(facts.verdicts.begin(), facts.verdicts.end(), Verdict::pass);
    rows.push_back({text_cell(i < pairing.base ? "before" : "after"),
                    {.html = fmt::format("<code>{}</code>", for_html(facts.path))},
                    text_cell(facts.launch.created_utc),
                    text_cell(facts.launch.level),
                    count_cell(facts.gpus.size()),
                    count_cell(static_cast<std::size_t>(passed)),
                    count_cell(facts.verdicts.size()),
                    text_cell(facts.launch.complete ? "yes" : "no"),
                    text_cell(facts.launch.run_id)});
  }
  return html_table("reports", "launches",
                    {{"side"},
                     {"report"},
                     {"began"},
                     {"level"},
                     {"GPUs", true},
                     {"pass", true},
                     {"planned", true},
                     {"complete"},
                     {"run"}},
                    rows);
}

}  // namespace

std::string comparison_left_out(std::size_t number, std::string_view what) {
  if (number == 0) return {};
  return fmt::format(
      "<p class=\"muted\">... and {}: <code>tidemark compare --html --all</code> has all</p>\n",
      plural(number, fmt::format("more {}", what)));
}

std::string comparison_html(const Comparison& comparison, bool all) {
  const ComparisonLimits limits = ComparisonLimits::of(all);
  std::string body = head_of(comparison);
  body += html_section("changed", "What changed", changes_of(comparison, limits));
  body += html_section("map", "Where", html_comparison_map(comparison, limits));
  body += html_section("speed", "Speed", html_comparison_speed(comparison, limits));
  body += waivers_of(comparison);
  body += html_section("setup", "What else differs", setup_of(comparison));
  body += html_section("launches", "Launches", launches_of(comparison));
  return html_document(fmt::format("tidemark comparison: {}{}", headline_of(comparison),
                                   is_virtual(comparison) ? " (VIRTUAL)" : ""),
                       body);
}

}  // namespace tidemark::reports
