// A history as tests: a test a case, as the newest launches left it. Changes of speed are
// advice, and no test.
#include <fmt/ranges.h>

#include <utility>
#include <vector>

#include "reports/base/words.hpp"
#include "reports/document/history/document.hpp"

namespace tidemark::reports {
namespace {

TestOutcome outcome_of(const CasePast& past) {
  switch (past.state) {
    case CaseState::failing:
      return TestOutcome::failed;
    case CaseState::open:  // a failure that nothing as large took back
    case CaseState::lacking:
      return TestOutcome::error;
    case CaseState::waived:
    case CaseState::quiet:
      return TestOutcome::skipped;
    case CaseState::passing:
      break;
  }
  return TestOutcome::passed;
}

std::string text_of(const History& history, const CasePast& past) {
  const auto at = [&](std::uint32_t launch) {
    return utc_text(history.chronicle.launches[launch].at_unix_s);
  };
  switch (past.state) {
    case CaseState::failing:
      return fmt::format("failing since {} ({} in a row); changed since it passed: {}",
                         at(past.since), plural(past.in_a_row, "launch"),
                         setup_text(past.setup, 6));
    case CaseState::open:
      return fmt::format("{} on {}; nothing as large passed there since",
                         opened_text(history, past), gpu_name(history, past.open_gpus.front()));
    case CaseState::lacking:
      return fmt::format("has no answer in {}",
                         history.chronicle.launches[past.results->back().launch].path);
    case CaseState::waived:
      return fmt::format("waived since {} ({} in a row)", at(past.since),
                         plural(past.in_a_row, "launch"));
    case CaseState::quiet:
      return "skipped in the newest launches";
    case CaseState::passing:
      break;
  }
  return "passing";
}

TestCase case_of(const History& history, const CasePast& past) {
  TestCase made{.class_name = "tidemark.history",
                .name = past.name + (past.is_virtual ? " (VIRTUAL)" : ""),
                .seconds = 0,
                .outcome = outcome_of(past),
                .type = std::string(name_of(past.state)),
                .message = text_of(history, past),
                .text = {}};
  if (past.is_virtual) skip_virtual(made);
  return made;
}

}  // namespace

std::vector<TestSuite> tests_of(const History& history, const ShowOptions& options) {
  const PastLaunch& newest = history.chronicle.launches.back();
  const std::string utc = utc_text(newest.at_unix_s);
  TestSuite suite{.name = "tidemark history",
                  .hostname = {},
                  .timestamp = utc.substr(0, utc.find('Z')),
                  .properties = {{"launches", plural(history.chronicle.launches.size(), "launch")},
                                 {"cases", cases_summary(history)},
                                 {"speed", metrics_summary(history)}},
                  .cases = {}};
  suite.cases.reserve(history.cases.size() + 2);
  // The newest of all may be among those.
  if (!options.refused.empty())
    suite.cases.push_back({.class_name = "tidemark.history",
                           .name = "every report can be read",
                           .seconds = 0,
                           .outcome = TestOutcome::error,
                           .type = "refused",
                           .message = fmt::format("{}", fmt::join(options.refused, "; ")),
                           .text = {}});
  suite.cases.push_back({.class_name = "tidemark.history",
                         .name = "the newest report is complete",
                         .seconds = 0,
                         .outcome = newest.is_virtual                  ? TestOutcome::skipped
                                    : newest.incomplete_reason.empty() ? TestOutcome::passed
                                                                       : TestOutcome::error,
                         .type = "incomplete",
                         .message = newest.is_virtual ? "VIRTUAL device" : newest.incomplete_reason,
                         .text = {}});
  for (const CasePast& past : history.cases) suite.cases.push_back(case_of(history, past));
  return {std::move(suite)};
}

}  // namespace tidemark::reports
