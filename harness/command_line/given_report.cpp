// Reports that somebody names, and what is known beside them.
#include "harness/command_line/given_report.hpp"

#include <utility>

#include "harness/base/output.hpp"
#include "suite/case.hpp"

namespace tidemark::harness {

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

// Looks a case up for its steps.

PrintedBeside printed_beside(std::string_view case_name, std::string_view metric) {
  const Case* const which = case_named(case_name);
  if (which == nullptr || which->step == nullptr) return {};
  MetricStep step = which->step(metric);
  return {.over = std::move(step.over),
          .published = step.published,
          .published_by = std::string(step.published_by)};
}

}  // namespace tidemark::harness
