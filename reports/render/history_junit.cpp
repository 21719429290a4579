// A history as JUnit XML: a test a case, as the newest launches left it. Changes of speed are
// advice, and no test.
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "reports/render/junit.hpp"
#include "reports/render/show_history.hpp"

namespace tidemark::reports {
namespace {

JunitOutcome outcome_of(const CasePast& past) {
  if (past.is_virtual) return JunitOutcome::skipped;
  switch (past.state) {
    case CaseState::failing:
      return JunitOutcome::failed;
    case CaseState::open:  // a failure that nothing as large took back
    case CaseState::lacking:
      return JunitOutcome::error;
    case CaseState::waived:
    case CaseState::quiet:
      return JunitOutcome::skipped;
    case CaseState::passing:
      break;
  }
  return JunitOutcome::passed;
}

std::string text_of(const History& history, const CasePast& past) {
  const auto at = [&](std::uint32_t launch) {
    return utc_text(history.chronicle.launches[launch].at_unix_s);
  };
  switch (past.state) {
    case CaseState::failing:
      return fmt::format("failing since {} ({} in a row); changed since it passed: {}",
                         at(past.since), launches_text(past.in_a_row), setup_text(past.setup, 6));
    case CaseState::open:
      return fmt::format("failed {} on {}; nothing as large passed there since", at(past.last_bad),
                         gpu_name(history, past.open_gpus.front()));
    case CaseState::lacking:
      return fmt::format("has no answer in {}",
                         history.chronicle.launches[past.results->back().launch].path);
    case CaseState::waived:
      return fmt::format("waived since {} ({} in a row)", at(past.since),
                         launches_text(past.in_a_row));
    case CaseState::quiet:
      return "skipped in the newest launches";
    case CaseState::passing:
      break;
  }
  return "passing";
}

JunitCase case_of(const History& history, const CasePast& past) {
  JunitCase made{.class_name = "tidemark.history",
                 .name = past.name + (past.is_virtual ? " (VIRTUAL)" : ""),
                 .seconds = 0,
                 .outcome = outcome_of(past),
                 .type = std::string(name_of(past.state)),
                 .message = text_of(history, past),
                 .text = {}};
  if (past.is_virtual) {
    made.message = "VIRTUAL device, nothing was measured on a GPU; there: " + made.message;
  }
  return made;
}

}  // namespace

std::string history_junit(const History& history) {
  const PastLaunch& newest = history.chronicle.launches.back();
  const std::string utc = utc_text(newest.at_unix_s);
  JunitSuite suite{.name = "tidemark history",
                   .hostname = {},
                   .timestamp = utc.substr(0, utc.find('Z')),
                   .properties = {{"launches", launches_text(history.chronicle.launches.size())},
                                  {"cases", cases_summary(history)},
                                  {"speed", metrics_summary(history)}},
                   .cases = {}};
  suite.cases.reserve(history.cases.size() + 1);
  suite.cases.push_back({.class_name = "tidemark.history",
                         .name = "the newest report is complete",
                         .seconds = 0,
                         .outcome = newest.is_virtual                  ? JunitOutcome::skipped
                                    : newest.incomplete_reason.empty() ? JunitOutcome::passed
                                                                       : JunitOutcome::error,
                         .type = "incomplete",
                         .message = newest.is_virtual ? "VIRTUAL device" : newest.incomplete_reason,
                         .text = {}});
  for (const CasePast& past : history.cases) suite.cases.push_back(case_of(history, past));
  return junit_of("tidemark history", {std::move(suite)});
}

}  // namespace tidemark::reports
