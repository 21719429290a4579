// Names, orders and sentences of a comparison.
#include "reports/document/comparison/document.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "reports/base/words.hpp"

namespace tidemark {

namespace {

std::string confounders_of(const SetupComparison& setup) {
  std::string made;
  for (const SetupDifference& difference : setup.differences) {
    if (role_of(difference) == "confounder") made += (made.empty() ? "" : ", ") + difference.factor;
  }
  return made;
}

std::string drivers_of(const SetupComparison& setup) {
  for (const SetupDifference& difference : setup.differences) {
    if (difference.subject) return fmt::format("{} -> {}", difference.base, difference.fresh);
  }
  return {};
}

std::string margin_text(const Effect& effect) {
  if (std::isnan(effect.standard_error)) return " (untested)";
  return fmt::format(" +- {}", percent(effect.margin()));
}

/// "; sm_clock -9.00 %": readings that moved with a change beyond the floor, by half of it at
/// least.
std::string moved_with(const Comparison& comparison, double change, double floor) {
  std::string made;
  for (const ReadingShift& shift : comparison.setup.shifts) {
    if (std::abs(change) > floor && shift.change / change >= 0.5)
      made += fmt::format("; {} {}", shift.name, signed_percent(shift.change));
  }
  return made;
}

/// "a/rate and 2 more metrics".
template <class Finding>
std::string some_metrics(const Comparison& comparison,
                         const std::vector<const Finding*>& findings) {
  const Finding& first = *findings.front();
  const std::size_t more = findings.size() - 1;
  return name_of(comparison, first.of_case, first.metric) +
         (more == 0 ? "" : fmt::format(" and {}", plural(more, "more metric")));
}

void add_left_out(std::vector<std::string>& made, const Comparison& comparison) {
  std::set<std::uint32_t> gpus;
  std::vector<const SpeedFinding*> of_gpus, of_launches;
  std::size_t launches = 0;
  for (const SpeedFinding& finding : comparison.speed.series) {
    if (!finding.without.empty()) of_gpus.push_back(&finding);
    if (finding.launches_left_out > 0) of_launches.push_back(&finding);
    gpus.insert(finding.without.begin(), finding.without.end());
    launches = std::max(launches, finding.launches_left_out);
  }
  std::vector<std::uint32_t> unpaired;
  for (std::uint32_t gpu = 0; gpu < comparison.pairing.gpus.size(); ++gpu) {
    if (!comparison.pairing.is_paired(gpu)) unpaired.push_back(gpu);
  }
  if (!unpaired.empty() && comparison.paired_gpus > 0) {
    made.push_back(fmt::format("LEFT OUT: {} on one side only: {}", plural(unpaired.size(), "GPU"),
                               place_of(comparison.pairing, unpaired)));
  }
  std::vector<std::string> cases;
  for (const std::uint32_t which : comparison.conformance.new_cases)
    cases.push_back(comparison.pairing.cases[which]);
  if (!cases.empty())
    made.push_back("LEFT OUT: new in the suite of the new side: " + some_of(cases, 4, "case"));
  if (const std::size_t nameless = comparison.pairing.nameless_gpus; nameless > 0) {
    made.push_back(fmt::format("LEFT OUT: {} without a UUID", plural(nameless, "GPU")));
  }
  if (!of_gpus.empty()) {
    made.push_back(fmt::format("LEFT OUT: {} without a number in every launch: {}: {}",
                               plural(gpus.size(), "GPU"),
                               place_of(comparison.pairing, {gpus.begin(), gpus.end()}),
                               some_metrics(comparison, of_gpus)));
  }
  if (!of_launches.empty()) {
    made.push_back(fmt::format("LEFT OUT: {} in which not every GPU has a number: {}",
                               plural(launches, "launch"), some_metrics(comparison, of_launches)));
  }
}

/// Rates that a driver makes a quarter higher: the kernels are ours, and what they leave undone is
/// fast. Times may shrink by more.
std::vector<const SpeedFinding*> too_fast(const Comparison& comparison) {
  constexpr double kQuarter = 0.2231436;  // natural logarithm
  std::vector<const SpeedFinding*> made;
  const SpeedComparison& speed = comparison.speed;
  for (const SpeedFinding& finding : speed.series) {
    const SpeedVerdict verdict =
        finding.verdict == SpeedVerdict::with_all ? speed.shared : finding.verdict;
    const auto on_gpu = [&](const GpuFinding& one) {
      return one.covers(finding.of_case, finding.metric) && one.verdict == SpeedVerdict::improved &&
             one.range().second > kQuarter;
    };
    const bool mean = verdict == SpeedVerdict::improved && finding.total > kQuarter;
    if (finding.higher_is_better && (mean || std::ranges::any_of(speed.gpus, on_gpu)))
      made.push_back(&finding);
  }
  return made;
}

/// How many more launches a side each ambiguous metric needs, ascending.
std::vector<std::size_t> more_launches(const Comparison& comparison) {
  std::vector<std::size_t> made;
  for (const SpeedFinding& finding : comparison.speed.series) {
    if (finding.launches_needed == 0) continue;
    const std::size_t have = std::min(finding.own.base, finding.own.fresh);
    made.push_back(finding.launches_needed - std::min(have, finding.launches_needed));
  }
  std::ranges::sort(made);
  return made;
}

/// Of an even number the lower one.
std::size_t median_of(const std::vector<std::size_t>& ascending) {
  return ascending[(ascending.size() - 1) / 2];
}

void add_drift(std::vector<std::string>& made, const Drift& drift) {
  if (!drift.seen()) return;
  made.push_back(fmt::format(
      "DRIFT: {} from launch to launch within a side: a change may be that drift; interleave the "
      "launches of both sides",
      drift.of_all() ? "all metrics together rise or fall" : "metrics change the same way"));
}

void add_unsteady(std::vector<std::string>& made, const Comparison& comparison) {
  for (const UnsteadyGpu& one : comparison.speed.unsteady)
    made.push_back(fmt::format(
        "UNSTEADY: {}: {} in the median of {}, and its launches lie too far apart to say that it "
        "changed: 'tidemark show' of each names it where it is slow",
        place_of(comparison.pairing, {one.gpu}), percent(-one.loss),
        plural(one.metrics, "metric")));
}

void add_odd_launches(std::vector<std::string>& made, const Comparison& comparison) {
  for (const OddLaunch& odd : comparison.speed.odd) {
    std::vector<const SpeedFinding*> metrics;
    metrics.reserve(odd.metrics.size());
    for (const std::size_t i : odd.metrics) metrics.push_back(&comparison.speed.series[i]);
    made.push_back(fmt::format(
        "ODD LAUNCH: {}: {} from the other launches of its side in {}; it does not count there",
        comparison.pairing.launches[odd.launch]->path, signed_percent(odd.distance),
        metrics.empty() ? "the median of all metrics" : some_metrics(comparison, metrics)));
  }
}

/// Also where both sides were slowed alike, and no difference says it.
void add_slowed(std::vector<std::string>& made, const Comparison& comparison) {
  std::map<std::string, std::vector<std::string>> paths;
  for (const LaunchFacts* launch : comparison.pairing.launches) {
    for (const auto& [of_case, share] : launch->slowed) {
      paths[fmt::format("{} by {}", of_case, share)].push_back(launch->path);
    }
  }
  for (const auto& [what, in] : paths) {
    made.push_back(fmt::format("SLOWED ON PURPOSE: {} in {}", what, some_of(in, 1, "launch")));
  }
}

}  // namespace

std::string heading_of(ChangeKind kind) { return upper(name_of(kind)); }

std::string heading_of(const SpeedFinding& finding) {
  return (finding.waived ? "WAIVED " : "") + upper(name_of(finding.verdict));
}

bool is_good(ChangeKind kind) {
  return kind == ChangeKind::fixed || kind == ChangeKind::run_in_new;
}

std::string_view headline_of(const Comparison& comparison) {
  const std::set<std::string> found = findings_of(comparison);
  const auto any = [&](std::initializer_list<const char*> names) {
    return std::ranges::any_of(names, [&](const char* name) { return found.contains(name); });
  };
  if (any({"new_fail", "flaky", "regressed"})) return "REGRESSION";
  const std::set<std::string> missing = expanded({"missing"});
  if (std::ranges::any_of(found, [&](const std::string& name) { return missing.contains(name); }))
    return "MISSING";
  if (any({"behaviour_changed", "descriptors_changed", "answers_changed", "unexpected_pass"}))
    return "CHANGED";
  const bool better = any({"improved", "fixed", "run_in_new"});
  const bool unexplained = better && comparison.setup.cause == Cause::confounded;
  if (unexplained || is_undecided(comparison)) return "INCONCLUSIVE";
  if (better) return "IMPROVED";
  const SpeedComparison& speed = comparison.speed;
  const auto limited = [](SpeedVerdict verdict) {
    return verdict == SpeedVerdict::not_worse || verdict == SpeedVerdict::ambiguous;
  };
  const bool all_same =
      !limited(speed.shared) && std::ranges::none_of(speed.series, limited, &SpeedFinding::verdict);
  return all_same ? "SAME" : "NO REGRESSION FOUND";
}

std::string cause_text(const Comparison& comparison) {
  const SetupComparison& setup = comparison.setup;
  std::set<std::string> found = findings_of(comparison);
  found.erase("stale_waiver");
  found.erase("still_failing");
  found.erase("outlier");
  if (setup.cause == Cause::confounded) {
    return (found.empty() ? "nothing changed; what else differs may hide a change: "
                          : "inconclusive, may also be: ") +
           confounders_of(setup);
  }
  if (found.erase("waived") > 0 && found.empty()) return "nothing changed but what is waived";
  if (found == std::set<std::string>{"inconclusive"}) {
    return "no change was found; some could not be excluded";
  }
  if (found.empty()) {
    return setup.cause == Cause::driver
               ? fmt::format("nothing changed with the driver {}", drivers_of(setup))
               : "nothing changed, and nothing recorded differs";
  }
  if (setup.cause == Cause::driver) {
    // One launch a side cannot alternate.
    const bool in_time = setup.in_sequence || comparison.pairing.launches.size() == 2;
    if (!setup.one_boot && !in_time)
      return fmt::format("the driver {} is all that differs of what can be the cause",
                         drivers_of(setup));
    return fmt::format("the driver {}, {}: nothing else differs that can be the cause",
                       drivers_of(setup),
                       !in_time          ? "or the boot"
                       : !setup.one_boot ? "or the time"
                                         : "the boot or the time");
  }
  return "nothing recorded differs: the GPUs or what surrounds them";
}

std::string results_text(const Comparison& comparison) {
  const ConformanceComparison& all = comparison.conformance;
  std::string made = fmt::format("results: {} of {} pass on both sides",
                                 grouped(all.passed_in_both), grouped(all.compared));
  if (all.skipped_in_both > 0)
    made += fmt::format(", {} skipped on both", grouped(all.skipped_in_both));
  if (all.left_out > 0) made += fmt::format(", {} left out", grouped(all.left_out));
  bool first = true;
  for (std::size_t i = 0; i < kChangeKinds; ++i) {
    if (all.counts[i] == 0) continue;
    std::string name(kChangeKindNames[i]);
    std::ranges::replace(name, '_', ' ');
    made += fmt::format("{} {} {}", first ? ";" : ",", grouped(all.counts[i]), name);
    first = false;
  }
  return made;
}

std::string speed_text(const Comparison& comparison) {
  const SpeedComparison& speed = comparison.speed;
  if (speed.series.empty()) return "speed: nothing was measured";
  std::string made;
  for (const SpeedVerdict verdict :
       {SpeedVerdict::regressed, SpeedVerdict::improved, SpeedVerdict::same,
        SpeedVerdict::not_worse, SpeedVerdict::ambiguous, SpeedVerdict::not_compared,
        SpeedVerdict::with_all}) {
    std::string name(name_of(verdict));
    std::ranges::replace(name, '_', ' ');
    // Only where there are any: most comparisons have none.
    const bool rare = verdict == SpeedVerdict::with_all || verdict == SpeedVerdict::not_worse;
    if (rare && speed.counts[static_cast<std::size_t>(verdict)] == 0) continue;
    made += fmt::format("{}{} {}", made.empty() ? "speed: " : ", ",
                        grouped(speed.counts[static_cast<std::size_t>(verdict)]), name);
  }
  return made;
}

std::string launches_text(const Comparison& comparison) {
  const Pairing& pairing = comparison.pairing;
  return fmt::format("{} against {} launch{}", pairing.base, pairing.fresh(),
                     pairing.base == 1 && pairing.fresh() == 1 ? "" : "es");
}

const Evidence* evidence_of(const Comparison& comparison, const ChangeGroup& group) {
  const Pairing& pairing = comparison.pairing;
  for (std::size_t i = pairing.launches.size(); i-- > 0;) {
    const auto& evidence = pairing.launches[i]->evidence;
    for (const std::uint32_t which : group.cases) {
      for (const std::uint32_t gpu : group.gpus) {
        const auto at = evidence.find({pairing.case_rows[i][which], pairing.gpu_rows[i][gpu]});
        if (at != evidence.end()) return &at->second;
      }
    }
  }
  return nullptr;
}

std::string name_of(const Comparison& comparison, std::uint32_t which, const std::string& metric) {
  if (which == kAllMetrics) return "all metrics together";
  return fmt::format("{}/{}", comparison.pairing.cases[which], metric);
}

std::vector<GpuFindings> gpu_findings(const Comparison& comparison) {
  using Key = std::tuple<SpeedVerdict, std::vector<std::uint32_t>, bool, bool>;
  std::map<Key, GpuFindings> alike;
  for (const GpuFinding& finding : comparison.speed.gpus) {
    GpuFindings& group = alike[{finding.verdict, finding.gpus, finding.waived, finding.alone}];
    const bool first = group.findings.empty();
    const auto [least, most] = finding.range();
    group.least = first ? least : std::min(group.least, least);
    group.most = first ? most : std::max(group.most, most);
    group.findings.push_back(&finding);
  }
  std::vector<GpuFindings> made;
  for (auto& [key, group] : alike) {
    group.verdict = std::get<0>(key);
    group.gpus = std::get<1>(key);
    group.waived = std::get<2>(key);
    group.alone = std::get<3>(key);
    made.push_back(std::move(group));
  }
  return made;
}

std::string_view heading_of(const GpuFindings& findings) {
  if (findings.waived) return "WAIVED SLOWER";
  if (findings.verdict == SpeedVerdict::regressed) return "SLOWER";
  if (findings.verdict == SpeedVerdict::improved) return "FASTER";
  return findings.verdict == SpeedVerdict::same ? "UNCHANGED" : "CHANGED LESS";
}

std::string text_of(const Comparison& comparison, const GpuFindings& findings) {
  const bool unchanged = findings.verdict == SpeedVerdict::same;
  const bool changed = is_change(findings.verdict);
  const std::string than =
      findings.alone
          ? findings.gpus.size() > 1 ? "than before, each by itself" : "than before, by itself"
          : fmt::format("{} the other GPUs{}", unchanged ? "unlike" : "than",
                        changed ? ", unlike before" : "");
  const bool one = findings.gpus.size() == 1 && findings.findings.size() == 1;
  const Effect& own = findings.findings.front()->changes.front().own;
  return fmt::format("{} {}: {}: {}, {}{} in all", heading_of(findings), than,
                     place_of(comparison.pairing, findings.gpus),
                     some_metrics(comparison, findings.findings),
                     one ? fmt::format("own {}{}, ", percent(own.effect), margin_text(own)) : "",
                     percents(findings.least, findings.most));
}

std::string percents(double least, double most) {
  const std::string from = percent(least);
  const std::string to = percent(most);
  return from == to ? from : fmt::format("{} to {}", from, to);
}

std::string more_launches_text(const Comparison& comparison) {
  const std::vector<std::size_t> more = more_launches(comparison);
  if (more.empty()) return {};
  const std::size_t median = median_of(more);
  const auto of_most =
      static_cast<std::size_t>(std::ranges::upper_bound(more, median) - more.begin());
  std::string made =
      fmt::format("to decide: {} a side would do for {} of {}", plural(median, "more launch"),
                  of_most, plural(more.size(), "ambiguous metric"));
  if (of_most < more.size()) made += fmt::format(", {} more for all", more.back());
  return made;
}

namespace {

/// What stands between a comparison without a regression and a rollout; empty where nothing does.
std::string caution_of(const Comparison& comparison) {
  if (comparison.setup.backwards) return "give the older launches as --base, then compare again";
  if (comparison.conformance.stopped_in_new) return "look at what hangs or crashes";
  if (!comparison.speed.unsteady.empty()) return "look at the GPUs that are UNSTEADY";
  if (!too_fast(comparison).empty()) return "look at what is TOO FAST";
  const auto slowed = [](const LaunchFacts* launch) { return !launch->slowed.empty(); };
  if (std::ranges::any_of(comparison.pairing.launches, slowed))
    return "compare launches that were not slowed on purpose";
  return {};
}

/// More launches a side that decide half of what is open, and every failure; 0: none would.
std::size_t launches_to_run(const Comparison& comparison) {
  const std::vector<std::size_t> of_metrics = more_launches(comparison);
  std::size_t made = of_metrics.empty() ? 0 : median_of(of_metrics);
  for (const FailingMore& one : comparison.conformance.failing_more)
    made = std::max<std::size_t>(made, one.more_launches);
  return made;
}

}  // namespace

std::string action_text(const Comparison& comparison) {
  if (comparison.paired_gpus == 0) return "run both sides on the same GPUs";
  const Cause cause = comparison.setup.cause;
  const std::string_view headline = headline_of(comparison);
  if (comparison.conformance.passed_anywhere == 0) return "look at why nothing passed";
  if (headline == "MISSING") return "run what is missing, then compare again";
  if (headline == "REGRESSION" || headline == "CHANGED") {
    return cause == Cause::nothing_recorded ? "look at what is named below" : "do not roll out";
  }
  if (std::string caution = caution_of(comparison); !caution.empty()) return caution;
  if (headline == "INCONCLUSIVE") {
    if (const std::size_t more = launches_to_run(comparison); more > 0)
      return fmt::format("run {} a side", plural(more, "more launch"));
  }
  if (cause == Cause::confounded) return "compare again with no other difference";
  const SpeedComparison& speed = comparison.speed;
  const auto unjudged = [](const SpeedFinding& finding) { return finding.gpus_unjudged > 0; };
  if (speed.counts[static_cast<std::size_t>(SpeedVerdict::not_compared)] > 0 &&
      headline == "INCONCLUSIVE")
    return "look at what was not compared";
  if (std::ranges::any_of(speed.series, unjudged)) return "look at the GPUs that are LEFT OUT";
  if (speed.shared == SpeedVerdict::ambiguous ||
      speed.counts[static_cast<std::size_t>(SpeedVerdict::ambiguous)] > 0)
    return "look for the noise of what is ambiguous";
  if (!comparison.below_reference.empty()) return "look at what is SLOWER THAN ITS MODEL";
  if (cause == Cause::nothing_recorded) return "nothing to do";
  const std::size_t failing =
      comparison.conformance.counts[static_cast<std::size_t>(ChangeKind::still_failing)];
  if (failing > 0)
    return fmt::format("roll out, though {} on both sides",
                       failing == 1 ? "1 result fails" : grouped(failing) + " results fail");
  return comparison.speed.series.empty() ? "roll out, though no speed was measured" : "roll out";
}

std::string resolution_text(const Comparison& comparison) {
  if (headline_of(comparison) != "NO REGRESSION FOUND") return {};
  const double floor = comparison.speed.policy.floor;
  std::size_t within = 0, beyond = 0;
  double most = 0;
  for (const SpeedFinding& finding : comparison.speed.series) {
    if (!is_kept(finding.verdict) && finding.verdict != SpeedVerdict::ambiguous) continue;
    if (finding.loss_limit <= floor) {
      ++within;
      continue;
    }
    ++beyond;
    most = std::fmax(most, finding.loss_limit);
  }
  std::string made;
  if (within > 0) made = fmt::format("{} within {:g} %", plural(within, "metric"), 100 * floor);
  // Rounded up: a limit that is rounded down is none.
  const std::string limit = fmt::format("{:g} %", std::ceil(1000 * -std::expm1(-most)) / 10);
  if (beyond == 0) return made;
  if (within > 0) return fmt::format("{}, {} within {}", made, grouped(beyond), limit);
  return fmt::format("{} within {}", plural(beyond, "metric"), limit);
}

std::vector<std::string> failing_more_texts(const Comparison& comparison) {
  std::vector<std::string> made;
  for (const FailingMore& one : comparison.conformance.failing_more) {
    made.push_back(fmt::format(
        "{}: in {} of {} launches before and {} of {} after, which may be chance: {} a side would "
        "tell",
        comparison.pairing.cases[one.of_case], one.base.failed, one.base.ran, one.fresh.failed,
        one.fresh.ran, plural(one.more_launches, "more launch")));
  }
  return made;
}

std::vector<std::string> warnings_of(const Comparison& comparison) {
  std::vector<std::string> made;
  for (const std::string& why : comparison.incomplete) made.push_back("INCOMPLETE: " + why);
  add_left_out(made, comparison);
  if (comparison.setup.in_sequence) {
    made.emplace_back(
        "NOT INTERLEAVED: one side ran after the other, so that drift looks like a change; "
        "alternate the launches of both");
  }
  if (comparison.setup.backwards) {
    made.emplace_back(
        "SIDES: the new launches began before those of the base; were they given the wrong way "
        "round?");
  }
  if (!comparison.outliers.empty())
    made.push_back(fmt::format(
        "OUTLIER: {}: slower than the other GPUs of the model in most of the new launches; "
        "'tidemark show' says by how much",
        place_of(comparison.pairing, comparison.outliers)));
  add_unsteady(made, comparison);
  add_odd_launches(made, comparison);
  add_drift(made, comparison.speed.drift);
  if (!comparison.below_reference.empty()) {
    made.push_back("SLOWER THAN ITS MODEL: " + comparison.below_reference);
  }
  if (const auto fast = too_fast(comparison); !fast.empty()) {
    made.push_back(fmt::format("TOO FAST: {}: more than 25 % faster: is all of the work done?",
                               some_metrics(comparison, fast)));
  }
  for (const std::string& more : failing_more_texts(comparison))
    made.push_back("FAILS MORE OFTEN: " + more);
  add_slowed(made, comparison);
  if (comparison.paired_gpus == 0) {
    made.push_back(fmt::format("NOT PAIRED: {}", kNoPairedGpu));
  } else if (comparison.conformance.passed_anywhere == 0) {
    made.emplace_back("NOTHING PASSED: no result of either side is a pass, so nothing was tested");
  }
  return made;
}

std::string text_of(const Comparison& comparison, const SpeedFinding& finding, bool why) {
  std::string text = fmt::format("{} {}", heading_of(finding),
                                 name_of(comparison, finding.of_case, finding.metric));
  if (!std::isnan(finding.total)) {
    // Of the value itself: a count of cycles that grows by 6 % is "+6 %, slower".
    const double sign = finding.higher_is_better ? 1 : -1;
    const bool changed = std::abs(finding.total) > finding.floor;
    text += fmt::format("  {} -> {} {}  own {}{}, {} in all{}, on {}",
                        short_number(finding.base_value), short_number(finding.fresh_value),
                        finding.unit, signed_percent(sign * finding.own.effect),
                        margin_text(finding.own), signed_percent(sign * finding.total),
                        !changed            ? ""
                        : finding.total < 0 ? ", slower"
                                            : ", faster",
                        plural(finding.gpus, "GPU"));
    if (!finding.own.left_out.empty()) text += ", an odd launch left out";
    if (finding.gpus_left_out > 0) {
      text += fmt::format(" ({} left out)", grouped(finding.gpus_left_out));
    }
  }
  if (is_change(finding.verdict)) text += moved_with(comparison, finding.total, finding.floor);
  if (why && !finding.why.empty()) text += "; " + finding.why;
  if (!finding.reference.empty()) text += "; others of the model " + finding.reference;
  return text;
}

std::string shared_text(const Comparison& comparison) {
  const SpeedComparison& speed = comparison.speed;
  if (speed.shared == SpeedVerdict::not_compared || is_kept(speed.shared)) return {};
  return fmt::format("ALL {} by what all cases share: {}{}{}{}",
                     speed.shared == SpeedVerdict::regressed  ? "SLOWER"
                     : speed.shared == SpeedVerdict::improved ? "FASTER"
                                                              : "AMBIGUOUS",
                     percent(speed.effects.shared.effect), margin_text(speed.effects.shared),
                     moved_with(comparison, speed.effects.shared.effect, speed.policy.floor),
                     speed.why_shared.empty() ? "" : "; " + speed.why_shared);
}

std::string smallest_text(const Comparison& comparison) {
  std::vector<double> smallest;
  for (const SpeedFinding& finding : comparison.speed.series) {
    if (!std::isnan(finding.smallest_seen)) smallest.push_back(finding.smallest_seen);
  }
  if (smallest.empty()) return {};
  std::ranges::sort(smallest);
  return fmt::format(
      "smallest change that would have been seen 8 times of 10: {} in half of the "
      "metrics, {} in all",
      percent(smallest[smallest.size() / 2]), percent(smallest.back()));
}

std::string_view role_of(const SetupDifference& difference) {
  if (difference.subject) return "subject";
  if (difference.allowed) return "allowed";
  return difference.idle ? "idle" : "confounder";
}

std::vector<std::string> notes_of(const Comparison& comparison) {
  std::vector<std::string> made = comparison.setup.remarks;
  std::size_t untailed = 0;
  for (const SpeedFinding& finding : comparison.speed.series) {
    const bool some =
        std::ranges::any_of(finding.tails, [](double tail) { return !std::isnan(tail); });
    untailed += some && finding.lacks_tails() ? 1U : 0U;
  }
  if (untailed > 0) {
    made.push_back(fmt::format("samples of {} were not compared: a launch has fewer than {}",
                               plural(untailed, "metric"), kFewestForTail));
  }
  const std::size_t maps = comparison.conformance.descriptors_unjudged;
  if (maps > 0) {
    made.push_back(
        fmt::format("{} differ{}, and so does the seed or the build that they were made "
                    "of: not judged",
                    plural(maps, "tensor map"), maps == 1 ? "s" : ""));
  }
  for (const std::uint32_t which : comparison.conformance.behaviours_unjudged) {
    made.push_back(
        fmt::format("{} noted something else: not judged, because the suites differ, or the base "
                    "does not show that it notes the same every time",
                    comparison.pairing.cases[which]));
  }
  return made;
}

}  // namespace tidemark
