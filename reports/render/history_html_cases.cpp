// Cases over launches, on a page: a map of those that ever failed, and all of them in a table.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reports/render/escape.hpp"
#include "reports/render/history_html.hpp"
#include "reports/render/html/document.hpp"
#include "reports/render/html/heat_map.hpp"
#include "reports/render/page.hpp"
#include "reports/render/show_history.hpp"

namespace tidemark::reports {
namespace {

std::string when(const History& history, std::uint32_t launch) {
  return utc_text(history.chronicle.launches[launch].at_unix_s);
}

bool is_remarkable(const CasePast& past) {
  return past.state == CaseState::lacking || past.first_bad.has_value();
}

std::string failing_of(const History& history, const CasePast& past) {
  const PastResults& last = past.results->back();
  std::string gpus;
  for (const std::uint32_t gpu : last.bad_gpus) {
    gpus += (gpus.empty() ? "" : ", ") + for_html(gpu_name(history, gpu));
  }
  if (last.bad > last.bad_gpus.size()) {
    gpus += fmt::format(" and {} more", last.bad - last.bad_gpus.size());
  }
  return fmt::format(
      "<div class=\"finding\"><h3><span class=\"badge bad\">FAILING</span> <code>{}</code> "
      "<span class=\"muted\">since {}, {} in a row</span></h3>\n<p>{} on {}</p>\n<p>{}</p>\n"
      "</div>\n",
      for_html(past.name), when(history, past.since), launches_text(past.in_a_row),
      name_of(last.worst), gpus,
      past.last_pass == kNoRow
          ? std::string("nothing as large passed before")
          : fmt::format("it last passed {}; changed since: {}", when(history, past.last_pass),
                        for_html(setup_text(past.setup, 12))));
}

/// A failure that somebody answers for, or that no run as large has answered.
std::string unsettled_of(const History& history, const CasePast& past) {
  const bool open = past.state == CaseState::open;
  std::string gpus;
  std::size_t named = 0;
  const std::vector<std::uint32_t>& all = open ? past.open_gpus : past.results->back().bad_gpus;
  for (const std::uint32_t gpu : all) {
    if (named++ == 8) break;
    gpus += (gpus.empty() ? "" : ", ") + for_html(gpu_name(history, gpu));
  }
  const std::size_t number =
      open ? all.size() : std::max<std::size_t>(past.results->back().waived, all.size());
  if (number > named) gpus += fmt::format(" and {} more", number - named);
  return fmt::format(
      "<div class=\"finding\"><h3><span class=\"badge warn\">{}</span> <code>{}</code> "
      "<span class=\"muted\">last failed {}</span></h3>\n<p>on {}{}</p>\n</div>\n",
      open ? "OPEN" : "WAIVED", for_html(past.name), when(history, past.last_bad), gpus,
      open ? "; nothing as large passed there since, only smaller runs, other GPUs or none" : "");
}

HeatCell cell_of(const History& history, const CasePast& past, const PastResults& results) {
  const CaseState state = state_of(results);
  HeatCell made;
  made.kind = state == CaseState::failing   ? HeatKind::bad
              : state == CaseState::lacking ? HeatKind::warn
              : state == CaseState::waived  ? HeatKind::warn
              : state == CaseState::passing ? HeatKind::good
                                            : HeatKind::none;
  made.mark = state == CaseState::failing   ? 'x'
              : state == CaseState::lacking ? '?'
              : state == CaseState::waived  ? 'w'
                                            : ' ';
  made.label = fmt::format("{} {}: {}, {} passed, {} wrong, {} waived, {} lacking", past.name,
                           when(history, results.launch), name_of(results.worst), results.passed,
                           results.bad, results.waived, results.lacking);
  return made;
}

std::string map_of(const History& history, const HistoryLimits& limits) {
  const Chronicle& all = history.chronicle;
  const std::size_t first =
      all.launches.size() > limits.map_columns ? all.launches.size() - limits.map_columns : 0;
  HeatMap map{.title = "cases by launch", .rows = {}, .columns = {}, .cells = {}};
  for (std::size_t i = first; i < all.launches.size(); ++i) {
    map.columns.push_back(utc_text(all.launches[i].at_unix_s).substr(0, 16));
  }
  std::size_t left_out = 0;
  for (const CasePast& past : history.cases) {
    if (!is_remarkable(past)) continue;
    if (map.rows.size() == limits.map_rows) {
      ++left_out;
      continue;
    }
    map.rows.push_back(past.name);
    map.cells.emplace_back(map.columns.size());
    for (const PastResults& results : *past.results) {
      if (results.launch < first) continue;
      map.cells.back()[results.launch - first] = cell_of(history, past, results);
    }
  }
  if (map.rows.empty()) return {};
  std::string made =
      "<h3>Cases that failed, were waived or were lacking, by launch</h3>\n"
      "<p class=\"muted\">x: wrong on a GPU; w: wrong and waived; ?: planned and not known; empty: "
      "not run</p>\n" +
      svg_of(map);
  if (first > 0) made += history_left_out(first, "older column");
  return made + history_left_out(left_out, "row");
}

std::vector<HtmlCell> row_of(const History& history, const CasePast& past) {
  const char* const kind = past.state == CaseState::failing   ? "bad"
                           : past.state == CaseState::passing ? "good"
                                                              : "warn";
  const auto time = [&](bool known, std::uint32_t launch) {
    if (!known) return text_cell("");
    return HtmlCell{.html = when(history, launch),
                    .order = history.chronicle.launches[launch].at_unix_s};
  };
  const bool has_since = past.state == CaseState::passing || past.first_bad;
  return {{.html = fmt::format("<code>{}</code>{}", for_html(past.name),
                               past.is_virtual ? " VIRTUAL" : "")},
          {.html = fmt::format("<span class=\"badge {}\">{}</span>", kind, name_of(past.state))},
          count_cell(past.results->size()),
          count_cell(past.launches_bad),
          count_cell(past.turns),
          count_cell(past.in_a_row),
          time(has_since, past.since),
          time(past.first_bad.has_value(), past.first_bad.value_or(0)),
          time(true, past.results->back().launch)};
}

}  // namespace

std::string html_case_histories(const History& history, const HistoryLimits& limits) {
  std::string made;
  std::size_t failing = 0;
  for (const CasePast& past : history.cases) {
    if (past.state != CaseState::failing) continue;
    if (++failing <= limits.events) made += failing_of(history, past);
  }
  if (failing == 0) made += "<p>No case fails in the newest launch that ran it.</p>\n";
  if (failing > limits.events) made += history_left_out(failing - limits.events, "case");
  std::size_t unsettled = 0;
  for (const CasePast& past : history.cases) {
    if (past.state != CaseState::open && past.state != CaseState::waived) continue;
    if (++unsettled <= limits.events) made += unsettled_of(history, past);
  }
  if (unsettled > limits.events) made += history_left_out(unsettled - limits.events, "case");
  made += map_of(history, limits);
  std::vector<std::vector<HtmlCell>> rows;
  for (const CasePast& past : history.cases) {
    if (rows.size() < limits.table_rows) rows.push_back(row_of(history, past));
  }
  made += "<h3>Every case</h3>\n" + html_table("every-case", "every case",
                                               {{"case"},
                                                {"now"},
                                                {"launches", true},
                                                {"with failures", true},
                                                {"turns", true},
                                                {"in a row", true},
                                                {"since", true},
                                                {"first failed", true},
                                                {"last run", true}},
                                               rows);
  return made + history_left_out(history.cases.size() - rows.size(), "case");
}

}  // namespace tidemark::reports
