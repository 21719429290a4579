// Runs the parts of a comparison, and says what it found by name.
#include "reports/compare/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "reports/compare/speed/outliers.hpp"
#include "reports/compare/speed/series.hpp"

namespace tidemark {
namespace {

void refuse_what_cannot_be_compared(const Pairing& pairing) {
  if (pairing.base == 0 || pairing.fresh() == 0) {
    throw ReportError("one side has no report; give at least one for --base and one for --new");
  }
  std::set<std::string> seen;
  const LaunchFacts& first = *pairing.launches.front();
  for (const LaunchFacts* launch : pairing.launches) {
    if (launch->launch.is_virtual != first.launch.is_virtual) {
      const bool is_virtual = launch->launch.is_virtual;
      throw ReportError(
          fmt::format("{}: was made on {}, {} on {}; compare reports of the same kind",
                      launch->path, is_virtual ? "the virtual device" : "GPUs", first.path,
                      is_virtual ? "GPUs" : "the virtual device"));
    }
    if (!seen.insert(launch->launch.run_id).second) {
      throw ReportError(fmt::format("{}: its launch {} was given before; give each report once",
                                    launch->path, launch->launch.run_id));
    }
  }
}

std::set<std::string> kinds(std::initializer_list<ChangeKind> all) {
  std::set<std::string> made;
  for (const ChangeKind kind : all) made.emplace(name_of(kind));
  return made;
}

/// The new side has other cases by its source, and was asked for as many.
bool has_new_suite(const SetupComparison& setup) {
  const auto both_known = [](const SetupDifference& one) {
    return one.factor == "suite_tree" && one.base.find("unknown") == std::string::npos &&
           one.fresh.find("unknown") == std::string::npos;
  };
  return std::ranges::any_of(setup.differences, both_known) && !setup.differs("level") &&
         !setup.differs("arguments");
}

/// GPUs that are slower than the others of their model in most of the new launches.
std::vector<std::uint32_t> slow_outliers(const Pairing& pairing) {
  std::vector<std::size_t> times(pairing.gpus.size());
  for (std::size_t launch = pairing.base; launch < pairing.launches.size(); ++launch) {
    const LaunchFacts& facts = *pairing.launches[launch];
    std::set<std::uint32_t> slow;
    for (const OutlierGroup& group : outliers_of(facts).groups)
      if (group.slower) slow.insert(group.gpus.begin(), group.gpus.end());
    for (std::size_t gpu = 0; gpu < times.size(); ++gpu) {
      const std::uint32_t row = pairing.gpu_rows[launch][gpu];
      times[gpu] += row != kNoRow && slow.contains(facts.gpus[row].number) ? 1U : 0U;
    }
  }
  std::vector<std::uint32_t> made;
  for (std::uint32_t gpu = 0; gpu < times.size(); ++gpu)
    if (2 * times[gpu] > pairing.gpus[gpu].fresh) made.push_back(gpu);
  return made;
}

/// Whether something got worse on none of the GPUs whose driver changed.
bool lies_elsewhere(const Comparison& comparison) {
  const std::vector<std::uint32_t>& subject = comparison.setup.subject_gpus;
  const auto apart = [&](const std::vector<std::uint32_t>& gpus) {
    return std::ranges::none_of(
        gpus, [&](std::uint32_t gpu) { return std::ranges::binary_search(subject, gpu); });
  };
  if (subject.empty()) return false;
  for (const ChangeGroup& group : comparison.conformance.groups) {
    const bool worse = group.kind == ChangeKind::new_fail || group.kind == ChangeKind::flaky ||
                       group.kind == ChangeKind::behaviour_changed ||
                       group.kind == ChangeKind::descriptors_changed;
    if (worse && apart(group.gpus)) return true;
  }
  const auto slower = [&](const GpuFinding& finding) {
    return finding.verdict == SpeedVerdict::regressed && !finding.waived && apart(finding.gpus);
  };
  return std::ranges::any_of(comparison.speed.gpus, slower);
}

}  // namespace

Comparison compare_launches(std::vector<LaunchFacts> base, std::vector<LaunchFacts> fresh,
                            const CompareOptions& options) {
  Comparison made;
  made.base = std::move(base);
  made.fresh = std::move(fresh);
  if (options.waivers) {
    for (LaunchFacts& launch : made.base) forget_waivers(launch);
    for (LaunchFacts& launch : made.fresh) forget_waivers(launch);
  }
  const PairBy pair_by = pairing_of(made.base, made.fresh, options.pair_by);
  made.pairing = pair_up(made.base, made.fresh, pair_by);
  refuse_what_cannot_be_compared(made.pairing);
  made.setup = compare_setups(made.pairing, pair_by, options.allowed);
  const bool same_suite = !made.setup.differs("suite_tree") &&
                          !made.setup.differs("kernels_tree") && !made.setup.differs("level");
  miss_lost_numbers(made.pairing, same_suite, made.base, made.fresh);
  const std::vector<Waiver> waivers = options.waivers.value_or(std::vector<Waiver>{});
  Waiving waiving(made.pairing, waivers);
  made.conformance =
      compare_conformance(made.pairing, same_suite, has_new_suite(made.setup), waiving);
  // Another suite may ask other calls by the same words.
  if (same_suite) made.answers = compare_answers(made.pairing);
  made.speed = compare_speed(made.pairing, options.speed);
  waiving.mark(made.speed);
  hold_against(made, options.references);
  made.outliers = slow_outliers(made.pairing);
  if (const Drift& drift = made.speed.drift; drift.seen()) {
    made.setup.add({.factor = "drift",
                    .base = drift.of_all() ? "all metrics together" : "metrics one by one",
                    .fresh = "the next launches would go on like this",
                    .allowed = options.allowed.contains("drift")});
  }
  if (lies_elsewhere(made)) {
    made.setup.add({.factor = "other_gpus",
                    .base = fmt::format("the driver changed on {} of {} GPUs",
                                        made.setup.subject_gpus.size(), made.pairing.gpus.size()),
                    .fresh = "what got worse lies on others, too",
                    .allowed = options.allowed.contains("other_gpus")});
  }
  // The seed makes rows and payloads of conformance cases; how fast a kernel is does not follow
  // from which random numbers it multiplies.
  if (made.conformance.groups.empty()) made.setup.set_idle("seed");
  made.waivers = waiving.lines();
  for (std::size_t gpu = 0; gpu < made.pairing.gpus.size(); ++gpu) {
    made.paired_gpus += made.pairing.is_paired(gpu) ? 1U : 0U;
  }
  for (const LaunchFacts* launch : made.pairing.launches) {
    const LaunchRow& row = launch->launch;
    if (!row.complete) {
      made.incomplete.push_back(fmt::format("{}: {}", launch->path, row.incomplete_reason));
    } else if (row.ranks_reported < row.ranks_expected) {
      made.incomplete.push_back(fmt::format("{}: {} of {} ranks reported", launch->path,
                                            row.ranks_reported, row.ranks_expected));
    } else if (row.damaged_lines != 0) {
      made.incomplete.push_back(
          fmt::format("{}: {} journal lines were lost", launch->path, row.damaged_lines));
    }
  }
  for (std::string& series : incomplete_series(made.pairing)) {
    made.incomplete.push_back(std::move(series));
  }
  return made;
}

bool is_undecided(const Comparison& comparison) {
  const SpeedComparison& speed = comparison.speed;
  const auto undecided = [&](const SpeedFinding& finding) {
    // A number that only one side has is a hole, not a pass, and so is one of a GPU that is left
    // out.
    const bool hole = finding.verdict == SpeedVerdict::not_compared &&
                      !comparison.conformance.new_cases.contains(finding.of_case);
    return hole || finding.gpus_unjudged > 0 ||
           (finding.verdict == SpeedVerdict::ambiguous && finding.launches_needed > 0);
  };
  return !speed.unsteady.empty() || !comparison.conformance.failing_more.empty() ||
         std::ranges::any_of(speed.series, undecided);
}

std::set<std::string> findings_of(const Comparison& comparison) {
  std::set<std::string> made;
  for (std::size_t i = 0; i < kChangeKinds; ++i) {
    if (comparison.conformance.counts[i] > 0) made.emplace(kChangeKindNames[i]);
  }
  if (!comparison.answers.changes.empty()) made.emplace("answers_changed");
  const SpeedComparison& speed = comparison.speed;
  const auto add_speed = [&](SpeedVerdict verdict, bool waived) {
    if (waived) {
      made.emplace("waived");
    } else if (is_change(verdict)) {
      made.emplace(name_of(verdict));
    }
  };
  for (const SpeedFinding& finding : speed.series) add_speed(finding.verdict, finding.waived);
  for (const GpuFinding& finding : speed.gpus) add_speed(finding.verdict, finding.waived);
  add_speed(speed.shared, false);
  const bool changed = made != std::set<std::string>{"waived"} && !made.empty();
  const bool unexplained = changed && comparison.setup.cause == Cause::confounded;
  const bool noisy = speed.shared == SpeedVerdict::ambiguous ||
                     speed.counts[static_cast<std::size_t>(SpeedVerdict::ambiguous)] > 0;
  if (unexplained || noisy || is_undecided(comparison)) made.emplace("inconclusive");
  for (const WaiverLedger::Line& waiver : comparison.waivers) {
    if (waiver.attention) made.emplace("stale_waiver");
  }
  if (!comparison.incomplete.empty()) made.emplace("incomplete");
  if (!comparison.outliers.empty()) made.emplace("outlier");
  // Where nothing passed nothing was tested, whatever both sides have alike.
  if (comparison.conformance.passed_anywhere == 0) made.emplace("missing_in_new");
  return made;
}

std::vector<std::string_view> finding_names() {
  std::vector<std::string_view> made(kChangeKindNames.begin(), kChangeKindNames.end());
  std::erase(made, name_of(ChangeKind::waived));  // nothing fails on what is waived
  for (const char* name : {"answers_changed", "regressed", "improved", "inconclusive", "incomplete",
                           "missing", "changed", "outlier", "stale_waiver", "all"}) {
    made.emplace_back(name);
  }
  return made;
}

std::set<std::string> expanded(const std::set<std::string>& names) {
  std::set<std::string> made;
  for (const std::string& name : names) {
    if (name == "missing") {
      made.merge(kinds({ChangeKind::missing_in_new, ChangeKind::missing_in_both,
                        ChangeKind::missing_in_base, ChangeKind::skipped_in_new}));
      made.insert("incomplete");
    } else if (name == "changed") {
      made.merge(kinds({ChangeKind::behaviour_changed, ChangeKind::descriptors_changed}));
      made.insert("answers_changed");
    } else if (name == "all") {
      for (const std::string_view each : finding_names()) made.emplace(each);
    } else {
      made.insert(name);
    }
  }
  return made;
}

Failing failing_of(std::string_view finding) {
  for (const ChangeKind kind :
       {ChangeKind::new_fail, ChangeKind::flaky, ChangeKind::still_failing}) {
    if (finding == name_of(kind)) return Failing::conformance;
  }
  // What was skipped says as little of the new side as what is not there.
  const auto lacks = expanded({"missing"});
  if (lacks.contains(std::string(finding))) return Failing::missing;
  return finding == "inconclusive" ? Failing::inconclusive : Failing::regression;
}

}  // namespace tidemark
