// A report as tests: a suite a node, in it a test a case; a suite more says whether the report
// is complete. Nothing of a virtual device is a pass of a GPU: all its tests are skipped.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "reports/document/report/document.hpp"
#include "reports/document/report/groups.hpp"
#include "reports/document/report/health.hpp"
#include "reports/schema/verdict_kinds.hpp"
#include "reports/store/replay_command.hpp"

namespace tidemark::reports {
namespace {

constexpr std::size_t kLongest = 400;  // characters of a message; CI shows it in a line

TestOutcome outcome_of(Verdict verdict) {
  if (is_bad(verdict)) return TestOutcome::failed;
  if (is_lacking(verdict)) return TestOutcome::error;
  return verdict == Verdict::pass ? TestOutcome::passed : TestOutcome::skipped;
}

/// A case on a node: results on its GPUs, the worst first.
TestCase case_of(const Report& report, std::vector<const ResultRow*> results,
                 const ShowOptions& options) {
  std::stable_sort(results.begin(), results.end(), [](const auto* a, const auto* b) {
    return rank_of(a->verdict) < rank_of(b->verdict);
  });
  const ResultRow& worst = *results.front();
  TestCase made{.class_name = {},
                .name = std::string(report.cases[worst.case_id].name.view()),
                .seconds = 0,
                .outcome = outcome_of(worst.verdict),
                .type = std::string(name_of(worst.verdict)),
                .message = fmt::format("{}: {}", name_of(worst.verdict),
                                       report.text(worst.reason).substr(0, kLongest)),
                .text = {}};
  for (const ResultRow* result : results) {
    if (result->seconds > 0) made.seconds += result->seconds;
    if (result->verdict == Verdict::pass) continue;
    made.text += fmt::format("{} on {}: {}\n", name_of(result->verdict),
                             place_of(report, result->gpu_id), report.text(result->reason));
    const std::string replay = replay_command(report, *result);
    if (!replay.empty()) made.text += fmt::format("  replay: {}\n", replay);
    // Finding it takes a while, and a fleet may fail alike.
    if (result != &worst || is_listed(result->verdict)) continue;
    const std::string program = program_command(options, result->result_id);
    if (!program.empty()) made.text += fmt::format("  program: {}\n", program);
  }
  if (report.launch.is_virtual) skip_virtual(made);
  return made;
}

TestSuite launch_suite(const Report& report) {
  const LaunchRow& launch = report.launch;
  TestCase complete{.class_name = "tidemark.launch",
                    .name = "report is complete",
                    .seconds = 0,
                    .outcome = launch.complete ? TestOutcome::passed : TestOutcome::error,
                    .type = "incomplete",
                    .message = launch.incomplete_reason.substr(0, kLongest),
                    .text = launch.incomplete_reason};
  if (launch.is_virtual) {
    complete.outcome = TestOutcome::skipped;
    complete.message = "VIRTUAL device, nothing was measured on a GPU; the report is " +
                       std::string(launch.complete ? "complete" : "incomplete");
  }
  std::vector<TestCase> cases = {std::move(complete)};
  const std::string slowed = slowed_text(report);
  // A suite of passes would say that these numbers are those of the GPUs.
  if (!slowed.empty()) {
    cases.push_back({.class_name = "tidemark.launch",
                     .name = "nothing was slowed on purpose",
                     .seconds = 0,
                     .outcome = TestOutcome::skipped,
                     .type = {},
                     .message = ("SLOWED ON PURPOSE: " + slowed).substr(0, kLongest),
                     .text = {}});
  }
  // The rest ran, and the exit code says how: a warning, as in the first lines of show.
  for (const std::string_view text : left_out_of(report)) {
    cases.push_back({.class_name = "tidemark.launch",
                     .name = "every GPU takes part",
                     .seconds = 0,
                     .outcome = TestOutcome::skipped,
                     .type = {},
                     .message = fmt::format("left out: {}", text).substr(0, kLongest),
                     .text = {}});
  }
  return {.name = "tidemark launch",
          .hostname = {},
          .timestamp = launch.created_utc.substr(0, launch.created_utc.find('Z')),
          .properties = {{"run_id", launch.run_id},
                         {"tidemark", launch.tool_version},
                         {"level", launch.level},
                         {"device", launch.is_virtual ? "VIRTUAL" : launch.device},
                         {"seed", fmt::format("{:#x}", launch.seed)},
                         {"ranks", fmt::format("{} of {} reported", launch.ranks_reported,
                                               launch.ranks_expected)}},
          .cases = std::move(cases)};
}

}  // namespace

std::vector<TestSuite> tests_of(const Report& report, const ShowOptions& options) {
  // By node, then by case; GPUs that never reported belong to no node (kNoRow, the last).
  std::map<std::uint32_t, std::map<std::uint32_t, std::vector<const ResultRow*>>> nodes;
  for (const ResultRow& result : report.results) {
    nodes[report.gpus[result.gpu_id].node_id][result.case_id].push_back(&result);
  }
  std::vector<TestSuite> suites = {launch_suite(report)};
  for (const auto& [node_id, cases] : nodes) {
    const std::string name = node_id == kNoRow
                                 ? "GPUs that never reported"
                                 : std::string(report.text(report.nodes[node_id].hostname));
    TestSuite suite{.name = name,
                    .hostname = node_id == kNoRow ? "" : name,
                    .timestamp = suites.front().timestamp,
                    .properties = {},
                    .cases = {}};
    suite.cases.reserve(cases.size());
    for (const auto& [case_id, results] : cases) {
      suite.cases.push_back(case_of(report, results, options));
      suite.cases.back().class_name = name;
    }
    suites.push_back(std::move(suite));
  }
  return suites;
}

}  // namespace tidemark::reports
