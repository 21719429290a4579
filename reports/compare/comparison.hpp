// Two sides of launches held against each other: what changed, and whether it can be the driver.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reports/compare/answers.hpp"
#include "reports/compare/conformance.hpp"
#include "reports/compare/setup.hpp"
#include "reports/compare/speed/references.hpp"
#include "reports/compare/speed/speed.hpp"

namespace tidemark {

struct CompareOptions {
  PairBy pair_by = PairBy::uuid;
  std::set<std::string> allowed = {};  // factors that do not count as confounders
  SpeedPolicy speed = {};
  References references = {};  // what GPUs of each model have
  /// Given: these alone say what is waived, on both sides. Not given: what a launch waived is.
  std::optional<std::vector<Waiver>> waivers = {};
};

struct Comparison {
  std::vector<LaunchFacts> base, fresh;
  Pairing pairing;  // points into the two above
  SetupComparison setup;
  ConformanceComparison conformance;
  SpeedComparison speed;
  AnswerComparison answers;
  std::vector<WaiverLedger::Line> waivers;   // what came of each
  std::vector<std::string> incomplete;       // reports that are, and why
  std::string below_reference = {};          // which GPUs are, and how far; empty: none
  std::vector<std::uint32_t> outliers = {};  // GPUs of the pairing; in most new launches, slower
  std::size_t paired_gpus = 0;

  Comparison() = default;
  Comparison(const Comparison&) = delete;
  Comparison& operator=(const Comparison&) = delete;
  Comparison(Comparison&&) = default;  // vectors keep their elements where they are
  Comparison& operator=(Comparison&&) = default;
};

/// Throws ReportError where a side has no launch, the same launch stands twice, or reports of the
/// virtual device are to be held against real ones.
Comparison compare_launches(std::vector<LaunchFacts> base, std::vector<LaunchFacts> fresh,
                            const CompareOptions& options);

/// What a comparison may be asked to fail on, and the code it then gives.
enum class Failing { conformance, missing, regression, inconclusive };

/// Every finding that is there, by its name: names of ChangeKind and of SpeedVerdict, "incomplete",
/// "inconclusive", "answers_changed", "outlier", "stale_waiver". What is waived is among them as
/// "waived" alone.
std::set<std::string> findings_of(const Comparison& comparison);

/// Whether a reasonable number of launches, or numbers that are missing, would tell more. Metrics
/// that are too noisy for that are "inconclusive" among the findings all the same.
bool is_undecided(const Comparison& comparison);

/// Names that findings_of can give; "missing", "changed" and "all" stand for several.
std::vector<std::string_view> finding_names();

/// The findings that these names stand for.
std::set<std::string> expanded(const std::set<std::string>& names);

/// Which exit code a finding belongs to.
Failing failing_of(std::string_view finding);

}  // namespace tidemark
