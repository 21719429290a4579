// A report as one HTML page: verdict, what did not pass, map, measurements, cases, what it was made
// on.
#include "reports/render/show_html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "reports/render/escape.hpp"
#include "reports/render/groups.hpp"
#include "reports/render/health.hpp"
#include "reports/render/html/document.hpp"
#include "reports/render/parts.hpp"
#include "reports/store/ranges.hpp"

namespace tidemark::reports {
namespace {

const char* class_of(Colour colour) {
  switch (colour) {
    case Colour::red:
      return "bad";
    case Colour::green:
      return "good";
    case Colour::yellow:
      return "warn";
    case Colour::none:
      break;
  }
  return "muted";
}

std::string badge(Verdict verdict) {
  const char* const kind = verdict == Verdict::pass ? "good" : is_quiet(verdict) ? "warn" : "bad";
  return fmt::format("<span class=\"badge {}\">{}</span>", kind, heading_of(verdict));
}

std::string banner(std::string_view text) {
  return fmt::format("<p class=\"banner\">{}</p>\n", for_html(text));
}

std::string hardware_of(const Report& report) {
  constexpr std::size_t kShown = 8;
  const std::vector<std::string> lines = hardware_lines(report);
  std::string made;
  for (const std::string& line : std::span(lines).first(std::min(kShown, lines.size())))
    made += banner("HARDWARE: " + line);
  if (lines.size() > kShown)
    made += banner(fmt::format("HARDWARE: and {}", plural(lines.size() - kShown, "more GPU")));
  return made;
}

std::string head_of(const Report& report, const Summary& summary) {
  const LaunchRow& launch = report.launch;
  std::string made =
      fmt::format("<header>\n<h1><span class=\"badge {}\">{}</span> tidemark report{}</h1>\n",
                  class_of(summary.colour), summary.word, launch.is_virtual ? " (VIRTUAL)" : "");
  made += fmt::format("<p>{} on {}: {} ({} planned)</p>\n", plural(report.cases.size(), "case"),
                      plural(launch.gpus, "GPU"), counts_of(summary), grouped(summary.planned));
  for (const std::string& line : {models_of(report), time_line(report)})
    if (!line.empty()) made += fmt::format("<p>{}</p>\n", for_html(line));
  made += fmt::format("<p class=\"muted\">run {}, {}, level {}</p>\n", for_html(launch.run_id),
                      for_html(launch.created_utc), for_html(launch.level));
  if (launch.is_virtual) made += banner("VIRTUAL device: nothing here was measured on a GPU.");
  if (const std::string slowed = slowed_text(report); !slowed.empty()) {
    made += banner("SLOWED ON PURPOSE: " + slowed);
  }
  made += hardware_of(report);
  if (!launch.complete) made += banner("INCOMPLETE REPORT: " + launch.incomplete_reason);
  if (summary.verdicts[static_cast<std::size_t>(Verdict::pass)] == 0) {
    made += banner("Nothing passed: this report says nothing good about any GPU.");
  }
  made += "<nav><a href=\"#findings\">what did not pass</a><a href=\"#map\">where</a>";
  if (!report.sms.empty()) made += "<a href=\"#sms\">SMs</a>";
  return made +
         "<a href=\"#measured\">measured</a><a href=\"#cases\">cases</a>"
         "<a href=\"#origin\">made on</a></nav>\n</header>\n";
}

std::string miscompares_of(const Report& report, const ResultGroup& group) {
  constexpr std::size_t kListed = 16;
  if (group.miscompares.empty()) return {};
  const std::size_t listed = std::min(kListed, group.miscompares.size());
  std::string made = fmt::format("<details><summary>{} of {}</summary><ul>\n", listed,
                                 plural(group.miscompares.size(), "miscompare"));
  for (std::size_t i = 0; i < listed; ++i) {
    const MiscompareRow& row = report.miscompares[group.miscompares[i]];
    made += fmt::format(
        "<li>row {}: {}: {}; {} wrong bytes from offset {}<br><code>{}</code></li>\n", row.row,
        for_html(report.text(row.what)), for_html(text_of(report, row)), grouped(row.wrong_bytes),
        grouped(row.first_offset), for_html(report.text(row.parameters)));
  }
  return made + "</ul></details>\n";
}

std::string cases_named(const Report& report, const ResultGroup& group) {
  constexpr std::size_t kNamed = 8;
  std::string made;
  for (std::size_t i = 0; i < std::min(kNamed, group.cases.size()); ++i) {
    made += fmt::format("{}<code>{}</code>", i == 0 ? "" : ", ",
                        for_html(report.cases[group.cases[i]].name.view()));
  }
  if (group.cases.size() > kNamed) {
    made += fmt::format(" and {} more", grouped(group.cases.size() - kNamed));
  }
  return made;
}

std::string finding_of(const Report& report, const ResultGroup& group, const ShowOptions& options) {
  const ResultRow& first = report.results[group.results.front()];
  const std::string where = group.gpus.size() == 1
                                ? place_of(report, group.gpus.front())
                                : fmt::format("{}: {}; first {}", plural(group.gpus.size(), "GPU"),
                                              ranges(group.gpus), place_of(report, first.gpu_id));
  std::string made = fmt::format(
      "<div class=\"finding\"><h3>{} <span>{}</span> <span class=\"muted\">on {}</span></h3>\n"
      "<p>{}</p>\n",
      badge(group.verdict), cases_named(report, group), for_html(where),
      group.reason.empty() ? "no reason was given" : for_html(group.reason));
  const std::string ending = ending_of(first);
  if (!ending.empty()) made += fmt::format("<p>{}</p>\n", for_html(ending));
  made += miscompares_of(report, group);
  if (!is_listed(group.verdict) && first.replay != 0) {
    made += fmt::format("<pre class=\"command\">{}</pre>\n", for_html(report.text(first.replay)));
  }
  const std::string program =
      is_listed(group.verdict) ? std::string() : program_command(options, group.results.front());
  if (!program.empty()) {
    made += fmt::format("<p class=\"muted\">program:</p><pre class=\"command\">{}</pre>\n",
                        for_html(program));
  }
  return made + "</div>\n";
}

std::string findings_of(const Report& report, const HtmlLimits& limits,
                        const ShowOptions& options) {
  const std::vector<ResultGroup> groups = result_groups(report, false);
  if (groups.empty()) return "<p>Everything that was planned passed.</p>\n";
  std::string made = "<div class=\"findings\" aria-label=\"what did not pass\">\n";
  const std::size_t shown = std::min(limits.findings, groups.size());
  for (std::size_t i = 0; i < shown; ++i) made += finding_of(report, groups[i], options);
  return made + "</div>\n" + html_left_out(groups.size() - shown, "finding");
}

std::string gpus_of(const Report& report, const HtmlLimits& limits) {
  std::vector<std::vector<HtmlCell>> rows;
  for (const GpuRow& gpu : report.gpus) {
    if (rows.size() == limits.table_rows) break;
    const auto text = [&report](std::uint32_t index) { return text_cell(report.text(index)); };
    const auto state = [&gpu](std::int32_t value) {
      return text_cell(gpu.nvml == 0 || value < 0 ? "-" : value == 0 ? "off" : "on");
    };
    const auto read = [&gpu](double value) {
      return number_cell(gpu.nvml == 0 ? std::nan("") : value);
    };
    rows.push_back({count_cell(gpu.gpu_id),
                    gpu.node_id == kNoRow ? text_cell("never reported")
                                          : text(report.nodes[gpu.node_id].hostname),
                    count_cell(gpu.local_index), text_cell(gpu.uuid.view()), text(gpu.name),
                    text(gpu.driver), text(gpu.vbios), text(gpu.serial), text(gpu.pci),
                    state(gpu.ecc_enabled), state(gpu.mig_enabled), read(gpu.power_limit_w),
                    read(gpu.app_sm_mhz), read(gpu.nvlinks_up), read(gpu.remapped_rows_pending)});
  }
  return html_table("gpus", "GPUs",
                    {{"GPU", true},
                     {"node"},
                     {"slot", true},
                     {"UUID"},
                     {"name"},
                     {"driver"},
                     {"VBIOS"},
                     {"serial"},
                     {"PCI"},
                     {"ECC"},
                     {"MIG"},
                     {"power cap W", true},
                     {"app SM MHz", true},
                     {"NVLinks up", true},
                     {"rows to remap", true}},
                    rows) +
         html_left_out(report.gpus.size() - rows.size(), "GPU");
}

/// Waivers, notes and events, as the terminal has them.
std::string remarks_of(const Report& report, bool all) {
  Page page;
  put_waivers(page, report);
  put_notes(page, report, {.all = all, .notes = true});
  put_events(page, report, {.all = all});
  std::string made;
  for (std::string_view rest = page.text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    made += for_html(rest.substr(0, end)) + "\n";
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (made.find_first_not_of('\n') == std::string::npos) return {};
  return html_section("remarks", "Waivers, notes and events", fmt::format("<pre>{}</pre>\n", made));
}

std::string outliers_in(const Report& report, const HtmlLimits& limits) {
  const Outliers outliers = outliers_of(report);
  const std::string summary = summary_of(report, outliers);
  if (summary.empty()) return {};
  std::string made = fmt::format("<p>{}</p>\n<ul>\n", for_html(summary));
  const std::size_t shown = std::min(limits.findings, outliers.groups.size());
  for (std::size_t i = 0; i < shown; ++i) {
    made += fmt::format("<li>{}</li>\n", for_html(text_of(outliers.groups[i])));
  }
  return html_section(
      "outliers", "GPUs against each other",
      made + "</ul>\n" + html_left_out(outliers.groups.size() - shown, "group of GPUs"));
}

std::string origin_of(const Report& report, const HtmlLimits& limits) {
  std::string made = "<dl class=\"facts\">\n";
  for (const Fact& fact : facts_of(report)) {
    made += fmt::format("<dt>{}</dt><dd>{}</dd>\n", for_html(fact.name), for_html(fact.value));
  }
  return made + "</dl>\n" + gpus_of(report, limits);
}

}  // namespace

std::string html_left_out(std::size_t number, std::string_view what) {
  if (number == 0) return {};
  return fmt::format(
      "<p class=\"muted\">... and {}: <code>tidemark show --html --all</code> "
      "has all</p>\n",
      plural(number, fmt::format("more {}", what)));
}

std::string html_of(const Report& report, const ShowOptions& options) {
  const HtmlLimits limits = HtmlLimits::of(options.all);
  const Summary summary = summary_of(report);
  std::string body = head_of(report, summary);
  body += html_section("findings", "What did not pass", findings_of(report, limits, options));
  body += html_section("map", "Where", html_map(report, limits));
  const std::string sms = html_sms(report, limits);
  if (!sms.empty()) body += html_section("sms", "SMs", sms);
  body += outliers_in(report, limits);
  const std::string measured = html_measured(report, limits);
  body +=
      html_section("measured", "What was measured",
                   measured.empty() ? "<p>No benchmark was part of this launch.</p>\n" : measured);
  body += html_section("cases", "Every case", html_cases(report, limits));
  body += remarks_of(report, options.all);
  body += html_section("origin", "What it was made on", origin_of(report, limits));
  return html_document(
      fmt::format("tidemark {}{}: {}", summary.word, report.launch.is_virtual ? " (VIRTUAL)" : "",
                  report.launch.created_utc),
      body);
}

}  // namespace tidemark::reports
