// What is known of the cases of a history: sentences, and on a page a map and a table.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "reports/base/words.hpp"
#include "reports/document/history/document.hpp"

namespace tidemark {
namespace {

bool is_remarkable(const CasePast& past) {
  return past.state == CaseState::lacking || past.state == CaseState::open ||
         past.first_bad.has_value();
}

bool is_over(const CasePast& past) {
  return past.state == CaseState::passing || past.state == CaseState::quiet;
}

/// "GPU 3 (n07, GPU-5f1c2d3e) and 3 more GPUs".
std::string gpus_text(const History& history, const std::vector<std::uint32_t>& gpus,
                      std::size_t all, std::size_t most) {
  const std::size_t named = std::min(most, gpus.size());
  std::string made;
  for (std::size_t i = 0; i < named; ++i) {
    made += (i == 0 ? "" : ", ") + gpu_name(history, gpus[i]);
  }
  if (named > 0 && all > named) made += fmt::format(" and {}", plural(all - named, "more GPU"));
  return made;
}

std::string bad_gpus_text(const History& history, const PastResults& results, std::size_t gpus) {
  return gpus_text(history, results.bad_gpus, std::size_t{results.bad} + results.waived, gpus);
}

std::string in_a_row(const CasePast& past) {
  return fmt::format("({} in a row)", plural(past.in_a_row, "launch"));
}

/// "in 3 of 20 launches, first 2026-09-01T00:00:00Z".
std::string failed_text(const History& history, const CasePast& past) {
  return fmt::format("in {} of {}, first {}", grouped(past.launches_bad),
                     plural(past.results->size(), "launch"), when(history, *past.first_bad));
}

/// What is behind the name of the case; so many GPUs are named.
std::string text_of(const History& history, const CasePast& past, std::size_t gpus) {
  const PastResults& last = past.results->back();
  const std::string since = is_remarkable(past) ? when(history, past.since) : "";
  switch (past.state) {
    case CaseState::failing:
      return fmt::format("since {} {}, {} on {}", since, in_a_row(past), name_of(last.worst),
                         bad_gpus_text(history, last, gpus));
    case CaseState::open:
      return fmt::format(
          "{} on {}; nothing as large passed there since, only smaller runs, other GPUs or none",
          opened_text(history, past),
          gpus_text(history, past.open_gpus, past.open_gpus.size(), gpus));
    case CaseState::waived:
      return fmt::format("since {} {}, on {}; failed {}", since, in_a_row(past),
                         bad_gpus_text(history, last, gpus), failed_text(history, past));
    case CaseState::lacking:
      return fmt::format("{} on {} in {}", name_of(last.worst), plural(last.lacking, "GPU"),
                         history.chronicle.launches[last.launch].path);
    case CaseState::passing:
      return fmt::format("{}; passing since {} ({} in a row)", failed_text(history, past), since,
                         grouped(past.in_a_row));
    case CaseState::quiet:
      break;
  }
  return fmt::format("{}; passing since {}, skipped in the last {}", failed_text(history, past),
                     since, plural(past.in_a_row, "launch"));
}

std::string why_of(const History& history, const CasePast& past) {
  std::string made = past.last_pass == kNoRow
                         ? "nothing as large passed before"
                         : fmt::format("it last passed {}; changed since: {}",
                                       when(history, past.last_pass), setup_text(past.setup, 6));
  if (*past.first_bad != past.since) {
    made += fmt::format("; it first failed {}, in {} of {}", when(history, *past.first_bad),
                        grouped(past.launches_bad), plural(past.results->size(), "launch"));
  }
  return made;
}

Finding finding_of(const History& history, const CasePast& past, std::size_t gpus) {
  const bool failing = past.state == CaseState::failing;
  Finding made{.tone = failing         ? Tone::bad
                       : is_over(past) ? Tone::quiet
                                       : Tone::warn,
               .heading = is_over(past) ? "failed before:" : upper(name_of(past.state)),
               .names = {past.name + (past.is_virtual ? " (VIRTUAL)" : "")},
               .text = {text_of(history, past, gpus)}};
  if (failing) made.why.push_back({why_of(history, past)});
  if (past.launches_without == 0) return made;
  // Launches that do not have a case say nothing about it.
  const std::string without =
      fmt::format("; not in the newest {}", plural(past.launches_without, "launch"));
  (failing ? made.why.back() : made.text).back().text += without;
  return made;
}

HeatCell cell_of(const History& history, const CasePast& past, const PastResults& results) {
  using enum HeatKind;
  // By CaseState; what one launch says is never open.
  static constexpr std::array<std::pair<HeatKind, char>, 6> kMarks = {
      {{bad, 'x'}, {none, ' '}, {warn, 'w'}, {warn, '?'}, {good, ' '}, {none, ' '}}};
  const auto [kind, mark] = kMarks.at(static_cast<std::size_t>(state_of(results)));
  HeatCell made{.kind = kind, .mark = mark};
  made.label = fmt::format("{} {}: {}, {} passed, {} wrong, {} waived, {} lacking", past.name,
                           when(history, results.launch), name_of(results.worst), results.passed,
                           results.bad, results.waived, results.lacking);
  return made;
}

void add_map(Section& section, const History& history, const ShowOptions& options) {
  const std::size_t launches = history.chronicle.launches.size();
  const std::size_t first = launches - std::min(launches, options.most(120));
  HeatMap map{.title = "cases by launch"};
  for (std::size_t i = first; i < launches; ++i) {
    map.columns.push_back(when(history, static_cast<std::uint32_t>(i)).substr(0, 16));
  }
  std::size_t left_out = 0;
  for (const CasePast& past : history.cases) {
    if (!is_remarkable(past)) continue;
    if (map.rows.size() == options.most(60)) {
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
  if (map.rows.empty()) return;
  section.add(Subheading{"Cases that failed, were waived or were lacking, by launch"}, kOnPage);
  section.add(Line{.as = Line::As::muted,
                   .text = {"x: wrong on a GPU; w: wrong and waived; ?: planned and not known; "
                            "empty: not run"}},
              kOnPage);
  section.add(std::move(map), kOnPage);
  section.leave_out(first, 0, "older column", kOnPage);
  section.leave_out(left_out, 0, "row", kOnPage);
}

std::vector<Cell> row_of(const History& history, const CasePast& past) {
  const auto time = [&](bool known, std::uint32_t launch) {
    if (!known) return text_cell("");
    return Cell{.text = when(history, launch),
                .order = history.chronicle.launches[launch].at_unix_s};
  };
  const bool has_since = past.state == CaseState::passing || past.first_bad;
  return {code_cell(past.name + (past.is_virtual ? " VIRTUAL" : "")),
          {.text = std::string(name_of(past.state)),
           .tone = past.state == CaseState::failing   ? Tone::bad
                   : past.state == CaseState::passing ? Tone::good
                                                      : Tone::warn,
           .as = Cell::As::badge},
          count_cell(past.results->size()),
          count_cell(past.launches_bad),
          count_cell(past.turns),
          count_cell(past.in_a_row),
          time(has_since, past.since),
          time(past.first_bad.has_value(), past.first_bad.value_or(0)),
          time(true, past.results->back().launch)};
}

void add_table(Section& section, const History& history, const ShowOptions& options) {
  TextTable table{.id = "every-case",
                  .label = "every case",
                  .columns = headings({"case", "now", ">launches", ">with failures", ">turns",
                                       ">in a row", ">since", ">first failed", ">last run"})};
  const std::size_t shown = std::min(options.most(3000), history.cases.size());
  for (std::size_t i = 0; i < shown; ++i) table.rows.push_back(row_of(history, history.cases[i]));
  section.add(Subheading{"Every case"}, kOnPage);
  section.add(std::move(table), kOnPage);
  section.leave_out(history.cases.size(), shown, "case", kOnPage);
}

}  // namespace

Section cases_of(const History& history, const ShowOptions& options) {
  Section made{.id = "cases", .heading = "Cases", .link = "cases", .bytes = 18'000};
  std::vector<const CasePast*> all, fresh;
  for (const CasePast& past : history.cases) {
    if (!is_remarkable(past)) continue;
    all.push_back(&past);
    // What is over or without an answer stands in the map and the table of a page.
    if (!is_over(past) && past.state != CaseState::lacking) fresh.push_back(&past);
  }
  const auto add = [&](const std::vector<const CasePast*>& some, std::size_t gpus, Readers who) {
    const auto finding = [&history, some, gpus](std::size_t i) {
      return finding_of(history, *some[i], gpus);
    };
    made.add(List{some.size(), {.terminal = 20, .page = 200}, "case", finding}, who);
  };
  add(all, 1, kAtTerminal);
  add(all, 8, kInReview);
  add(fresh, 8, kOnPage);
  if (fresh.empty()) {
    made.add(Line{.as = Line::As::paragraph,
                  .text = {"No case fails in the newest launch that ran it."}},
             kOnPage);
  }
  add_map(made, history, options);
  add_table(made, history, options);
  return made;
}

}  // namespace tidemark
