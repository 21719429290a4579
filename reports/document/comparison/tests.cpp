// A comparison as tests: a suite of the kinds of findings, a suite of the cases. What the
// exit code fails on fails here, too.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "reports/document/comparison/document.hpp"
#include "reports/document/comparison/places.hpp"
#include "reports/document/comparison/told.hpp"

namespace tidemark::reports {
namespace {

constexpr std::size_t kLongest = 400;  // characters of a message; CI shows it in a line

/// Something found, of a case or of the comparison as a whole.
struct Found {
  std::string name;  // as findings_of has it
  std::string text;  // a line, or several
};

TestOutcome outcome_of(const std::string& finding, const std::set<std::string>& fail_on) {
  constexpr std::array kGood = {"improved", "fixed", "run_in_new"};
  const bool good = std::find(kGood.begin(), kGood.end(), finding) != kGood.end();
  if (!fail_on.contains(finding)) return good ? TestOutcome::passed : TestOutcome::skipped;
  return failing_of(finding) == Failing::missing ? TestOutcome::error : TestOutcome::failed;
}

/// How bad an outcome is: what fails goes before what is missing, and both before what is only
/// told.
int rank_of(TestOutcome outcome) {
  switch (outcome) {
    case TestOutcome::failed:
      return 0;
    case TestOutcome::error:
      return 1;
    case TestOutcome::skipped:
      return 2;
    case TestOutcome::passed:
      break;
  }
  return 3;
}

TestCase case_of(const std::string& class_name, const std::string& name,
                 const std::vector<Found>& found, const std::set<std::string>& fail_on) {
  TestCase made{.class_name = class_name,
                .name = name,
                .seconds = 0,
                .outcome = TestOutcome::passed,
                .type = {},
                .message = {},
                .text = {}};
  for (const Found& each : found) {
    const TestOutcome outcome = outcome_of(each.name, fail_on);
    made.text += each.text + "\n";
    if (rank_of(outcome) >= rank_of(made.outcome)) continue;
    made.outcome = outcome;
    made.type = each.name;
    made.message = each.text.substr(0, std::min(kLongest, each.text.find('\n')));
    if (outcome == TestOutcome::skipped && each.name != "waived") {
      made.message += " (found, and --fail-on does not name it)";
    }
  }
  return made;
}

/// What was found of each case, by its index.
std::map<std::uint32_t, std::vector<Found>> found_of_cases(const Comparison& comparison) {
  std::map<std::uint32_t, std::vector<Found>> made;
  for (const ChangeGroup& group : comparison.conformance.groups) {
    const Evidence* evidence = evidence_of(comparison, group);
    std::string text =
        fmt::format("{} on {}", heading_of(group.kind), place_of(comparison.pairing, group.gpus));
    if (evidence != nullptr && !is_good(group.kind)) {
      text += ": " + evidence->reason;
      if (!evidence->replay.empty()) text += "\n  replay: " + evidence->replay;
    }
    for (const std::uint32_t which : group.cases) {
      made[which].push_back({std::string(name_of(group.kind)), text});
    }
  }
  for (const SpeedFinding& finding : comparison.speed.series) {
    if (finding.verdict == SpeedVerdict::same) continue;
    // What moved with all the others is what they share: slower, as a rule.
    const SpeedVerdict verdict =
        finding.verdict == SpeedVerdict::with_all ? comparison.speed.shared : finding.verdict;
    const bool named = verdict == SpeedVerdict::regressed || verdict == SpeedVerdict::improved;
    made[finding.of_case].push_back({finding.waived ? "waived"
                                     : named        ? std::string(name_of(verdict))
                                                    : "inconclusive",
                                     text_of(comparison, finding)});
  }
  for (const GpuFindings& group : gpu_findings(comparison)) {
    if (group.verdict != SpeedVerdict::regressed && group.verdict != SpeedVerdict::improved) {
      continue;
    }
    for (const GpuFinding* finding : group.findings) {
      made[finding->of_case].push_back(
          {group.waived ? "waived" : std::string(name_of(group.verdict)),
           text_of(comparison, group)});
    }
  }
  return made;
}

/// Of the comparison as a whole: what is said of no single case, and every kind of finding by name.
TestSuite findings_suite(const Comparison& comparison, const std::set<std::string>& fail_on) {
  const std::set<std::string> found = findings_of(comparison);
  std::map<std::string, std::string> texts;
  for (const std::string& why : comparison.incomplete) texts["incomplete"] += "; " + why;
  if (comparison.paired_gpus == 0) texts["missing_in_new"] += fmt::format("; {}", kNoPairedGpu);
  const SpeedVerdict shared = comparison.speed.shared;
  if (shared != SpeedVerdict::same && shared != SpeedVerdict::not_compared) {
    const bool named = shared != SpeedVerdict::ambiguous;
    texts[named ? std::string(name_of(shared)) : "inconclusive"] += "; " + shared_text(comparison);
  }
  texts["inconclusive"] += "; cause: " + cause_text(comparison);
  for (const WaiverLedger::Line& waiver : comparison.waivers) {
    if (waiver.attention) texts["stale_waiver"] += "; waiver " + waiver.text;
  }
  TestSuite made{.name = "tidemark compare",
                 .hostname = {},
                 .timestamp = {},
                 .properties = {{"result", std::string(headline_of(comparison))},
                                {"action", action_text(comparison)},
                                {"cause", cause_text(comparison)}},
                 .cases = {}};
  const std::string& newest = comparison.fresh.back().launch.created_utc;
  made.timestamp = newest.substr(0, newest.find('Z'));
  for (const std::string& name : expanded({"all"})) {
    if (expanded({name}) != std::set<std::string>{name}) continue;  // stands for several
    std::vector<Found> one;
    if (found.contains(name))
      one.push_back({name, name + texts[name] + "; which cases, the tests below say"});
    made.cases.push_back(case_of("tidemark.compare", "--fail-on " + name, one, fail_on));
  }
  return made;
}

}  // namespace

std::vector<TestSuite> tests_of(const Comparison& comparison,
                                const std::set<std::string>& fail_on) {
  TestSuite cases{.name = "cases", .hostname = {}, .timestamp = {}, .properties = {}, .cases = {}};
  const std::map<std::uint32_t, std::vector<Found>> found = found_of_cases(comparison);
  for (std::uint32_t i = 0; i < comparison.pairing.cases.size(); ++i) {
    const auto at = found.find(i);
    cases.cases.push_back(case_of("tidemark.case", comparison.pairing.cases[i],
                                  at == found.end() ? std::vector<Found>{} : at->second, fail_on));
  }
  std::vector<TestSuite> suites = {findings_suite(comparison, fail_on), std::move(cases)};
  suites.back().timestamp = suites.front().timestamp;
  if (comparison.pairing.launches.front()->launch.is_virtual) {
    for (TestSuite& suite : suites) {
      for (TestCase& one : suite.cases) skip_virtual(one);
    }
  }
  return suites;
}

}  // namespace tidemark::reports
