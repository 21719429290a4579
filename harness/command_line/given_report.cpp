// Reports that somebody names, and what is known beside them.
#include "harness/command_line/given_report.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "harness/base/output.hpp"
#include "suite/case.hpp"

namespace tidemark {

// Says what the reader found missing, once: a side of compare may be many files.

Report given_report(const std::string& path) {
  static bool said = false;
  Protection protection{};
  Report report = read_report(path, protection);
  if (!said && !note_of(protection).empty()) {
    write_error(std::string(note_of(protection)) + '\n');
    said = true;
  }
  return report;
}

// One row of formats() is one option; the terminal has none.

void add_formats(CLI::App& verb, std::string_view& chosen,
                 const std::vector<std::pair<std::string_view, std::string_view>>& details,
                 std::vector<CLI::Option*> excluded) {
  for (const Format& format : formats().subspan(1)) {
    std::string meaning(format.meaning);
    for (const auto& [name, detail] : details)
      if (name == format.name) meaning += fmt::format(": {}", detail);
    CLI::Option* const option = verb.add_flag_callback(
        fmt::format("--{}", format.name), [&chosen, &format] { chosen = format.name; }, meaning);
    for (CLI::Option* other : excluded) option->excludes(other);
    excluded.push_back(option);
  }
}

// Looks a case up for its steps.

PrintedBeside printed_beside(std::string_view case_name, std::string_view metric) {
  const Case* const which = case_named(case_name);
  if (which == nullptr || which->step == nullptr) return {};
  MetricStep step = which->step(metric);
  return {.over = std::move(step.over),
          .published = step.published,
          .published_by = std::string(step.published_by)};
}

}  // namespace tidemark
