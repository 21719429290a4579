// What became of each result between the two sides, and what waivers say of it.
#include "reports/compare/conformance.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "reports/base/words.hpp"
#include "reports/schema/verdict.hpp"

namespace tidemark {

// From indices of a pairing to what waivers know.

namespace {

/// Of the launches after the change; the first that is no time of a launch, where there is one.
double newest_of(const Pairing& pairing) {
  double newest = 0;
  for (std::size_t i = pairing.base; i < pairing.launches.size(); ++i) {
    const double at = pairing.launches[i]->launch.created_unix_s;
    if (!is_launch_time(at)) return at;
    newest = std::max(newest, at);
  }
  return newest;
}

void add_driver(GpuNames& made, std::string_view driver) {
  if (std::ranges::find(made.drivers, driver) == made.drivers.end()) made.drivers.push_back(driver);
}

/// As the last launch has it that has the GPU, with all drivers that it had after the change.
GpuNames names_of(const Pairing& pairing, std::size_t gpu) {
  GpuNames made;
  made.drivers.clear();
  for (std::size_t i = pairing.launches.size(); i-- > 0;) {
    const std::uint32_t row = pairing.gpu_rows[i][gpu];
    if (row == kNoRow || (i < pairing.base && !made.drivers.empty())) continue;
    const FactsOfGpu& facts = pairing.launches[i]->gpus[row];
    if (made.drivers.empty()) {
      made.uuid = facts.uuid;
      made.serial = facts.serial;
      made.host = facts.node;
    }
    const std::string_view driver = facts.values.empty() ? std::string_view() : facts.values[0];
    add_driver(made, driver);
  }
  return made;
}

using CaseAndGpu = std::pair<std::uint32_t, std::uint32_t>;

}  // namespace

Waiving::Waiving(const Pairing& pairing, const std::vector<Waiver>& waivers)
    : pairing_(pairing), waivers_(waivers), ledger_(waivers, newest_of(pairing)) {
  if (waivers.empty()) return;
  for (std::size_t gpu = 0; gpu < pairing.gpus.size(); ++gpu) {
    gpus_.push_back(names_of(pairing, gpu));
  }
}

bool Waiving::hear(Waives what, std::size_t which_case, std::size_t gpu, Heard heard) {
  if (waivers_.empty()) return false;
  const auto waiver = ledger_.hear(what, pairing_.cases[which_case], gpus_[gpu], heard);
  return heard == Heard::failed && waiver.has_value();
}

void Waiving::mark(SpeedComparison& speed) {
  if (waivers_.empty()) return;
  std::set<CaseAndGpu> slower;
  for (const GpuFinding& finding : speed.gpus) {
    if (finding.verdict != SpeedVerdict::regressed) continue;
    for (const std::uint32_t gpu : finding.gpus) slower.emplace(finding.of_case, gpu);
  }
  for (SpeedFinding& finding : speed.series) {
    const std::string_view name = pairing_.cases[finding.of_case];
    if (finding.verdict == SpeedVerdict::regressed) {
      finding.waived =
          ledger_.hear(Waives::speed, name, mean_of(finding), Heard::failed).has_value();
      continue;
    }
    const bool clear = is_kept(finding.verdict) || finding.verdict == SpeedVerdict::improved;
    for (std::uint32_t gpu = 0; gpu < gpus_.size(); ++gpu) {
      if (slower.contains({finding.of_case, gpu}) || slower.contains({kAllMetrics, gpu})) continue;
      ledger_.hear(Waives::speed, name, gpus_[gpu], clear ? Heard::passed : Heard::nothing);
    }
  }
  mark_gpus(speed);
}

GpuNames Waiving::mean_of(const SpeedFinding& finding) const {
  // No single GPU: only a waiver for all of them is about the mean over them.
  GpuNames made;
  made.drivers.clear();
  for (const std::uint32_t gpu : finding.mean_over) {
    for (const std::string_view driver : gpus_[gpu].drivers) {
      add_driver(made, driver);
    }
  }
  return made;
}

void Waiving::mark_gpus(SpeedComparison& speed) {
  std::vector<GpuFinding> made;
  for (const GpuFinding& finding : speed.gpus) {
    GpuFinding waived = finding;
    waived.waived = true;
    waived.gpus.clear();
    waived.changes.clear();
    GpuFinding left = waived;
    left.waived = false;
    for (std::size_t i = 0; i < finding.gpus.size(); ++i) {
      const std::uint32_t gpu = finding.gpus[i];
      const auto heard = [&](std::uint32_t of_case) {
        return hear(Waives::speed, of_case, gpu, Heard::failed);
      };
      const bool in_all = finding.of_case == kAllMetrics;  // waived where each case is
      const bool is_waived =
          finding.verdict == SpeedVerdict::regressed &&
          (in_all ? std::ranges::all_of(speed.series, heard, &SpeedFinding::of_case)
                  : heard(finding.of_case));
      (is_waived ? waived : left).gpus.push_back(gpu);
      (is_waived ? waived : left).changes.push_back(finding.changes[i]);
    }
    if (!left.gpus.empty()) made.push_back(std::move(left));
    if (!waived.gpus.empty()) made.push_back(std::move(waived));
  }
  speed.gpus = std::move(made);
}

std::vector<WaiverLedger::Line> Waiving::lines() const {
  return ledger_.lines({Waives::failure, Waives::speed, Waives::behaviour});
}

// Judges each pair of case and GPU, and puts together what changed alike.

namespace {

void count(SideCount& side, Verdict verdict) {
  side.pass += verdict == Verdict::pass ? 1 : 0;
  side.skipped += verdict == Verdict::skip ? 1 : 0;
  side.waived += verdict == Verdict::waived ? 1 : 0;
  side.unexpected += verdict == Verdict::unexpected_pass ? 1 : 0;
  side.bad += is_failure(verdict) ? 1 : 0;
  const bool stopped =
      verdict == Verdict::hang || verdict == Verdict::crash || verdict == Verdict::sticky;
  side.stopped += stopped || is_lost(verdict) ? 1 : 0;
  side.flaky = side.flaky || verdict == Verdict::flaky;
  side.lacking += is_lacking(verdict) ? 1 : 0;
}

std::optional<ChangeKind> kind_of(const SideCount& base, const SideCount& fresh) {
  // What was waived is no excuse for what is not waived any more.
  const bool failing_before = base.is_failing() && base.openly_bad() > 0;
  const bool bad_before = base.bad + base.waived > 0;
  const bool worse = fresh.stopped > 0 && base.stopped == 0;
  if (fresh.is_failing()) {
    return failing_before && !worse ? ChangeKind::still_failing : ChangeKind::new_fail;
  }
  if (fresh.is_flaky()) {
    return base.openly_bad() > 0 && !worse ? ChangeKind::still_failing : ChangeKind::flaky;
  }
  if (fresh.is_missing()) {
    return base.is_missing() ? ChangeKind::missing_in_both : ChangeKind::missing_in_new;
  }
  if (base.is_missing()) return ChangeKind::missing_in_base;
  if (fresh.waived > 0) return ChangeKind::waived;
  if (fresh.unexpected > 0) return ChangeKind::unexpected_pass;
  if (fresh.skipped > 0 && (base.pass > 0 || bad_before)) return ChangeKind::skipped_in_new;
  if (bad_before) return ChangeKind::fixed;
  if (base.skipped > 0 && fresh.pass > 0) return ChangeKind::run_in_new;
  return std::nullopt;
}

/// The cell of a launch, or nothing where it has none.
std::optional<std::size_t> cell_of(const Pairing& pairing, std::size_t launch,
                                   std::size_t which_case, std::size_t gpu) {
  const std::uint32_t row = pairing.case_rows[launch][which_case];
  const std::uint32_t column = pairing.gpu_rows[launch][gpu];
  if (row == kNoRow || column == kNoRow) return std::nullopt;
  return std::size_t{row} * pairing.launches[launch]->gpus.size() + column;
}

enum class Maps { same, changed, unjudged };

/// Whether the tensor maps changed. Some cases draw their rows from the seed, so maps may be held
/// against each other where the seed is the same, or where a side's maps are the same for several.
Maps compare_maps(const Pairing& pairing, std::size_t which_case, std::size_t gpu,
                  bool same_suite) {
  std::pair<std::map<std::uint64_t, std::uint64_t>, std::set<std::uint64_t>> sides[2];  // seed: map
  for (std::size_t launch = 0; launch < pairing.launches.size(); ++launch) {
    const auto cell = cell_of(pairing, launch, which_case, gpu);
    const LaunchFacts& facts = *pairing.launches[launch];
    if (!cell || facts.descriptors[*cell] == 0) continue;
    auto& [by_seed, all] = sides[launch < pairing.base ? 0 : 1];
    by_seed[facts.launch.seed] = facts.descriptors[*cell];
    all.insert(facts.descriptors[*cell]);
  }
  const auto& [base_by_seed, base] = sides[0];
  const auto& [fresh_by_seed, fresh] = sides[1];
  if (base.empty() || fresh.empty() || base == fresh) return Maps::same;
  if (!same_suite) return Maps::unjudged;
  bool shared = false;
  for (const auto& [seed, map] : base_by_seed) {
    const auto at = fresh_by_seed.find(seed);
    if (at == fresh_by_seed.end()) continue;
    shared = true;
    if (at->second != map) return Maps::changed;
  }
  const auto steady = [](const auto& by_seed, const auto& all) {
    return by_seed.size() > 1 && all.size() == 1;
  };
  if (steady(base_by_seed, base) && steady(fresh_by_seed, fresh)) return Maps::changed;
  return shared ? Maps::same : Maps::unjudged;
}

/// Every launch that has maps has the same: nearly always, and then nothing else is to be asked.
bool all_maps_equal(const Pairing& pairing, std::size_t which_case, std::size_t gpu) {
  std::uint64_t first = 0;
  for (std::size_t launch = 0; launch < pairing.launches.size(); ++launch) {
    const auto cell = cell_of(pairing, launch, which_case, gpu);
    const std::uint64_t map = cell ? pairing.launches[launch]->descriptors[*cell] : 0;
    if (map == 0) continue;
    if (first != 0 && map != first) return false;
    first = map;
  }
  return true;
}

bool planned_anywhere(const Pairing& pairing, std::size_t which_case, std::size_t gpu) {
  for (std::size_t launch = 0; launch < pairing.launches.size(); ++launch) {
    if (cell_of(pairing, launch, which_case, gpu)) return true;
  }
  return false;
}

enum class Behaves : std::uint8_t { alike, otherwise, unjudged };

/// What a behaviour case noted on a GPU in one launch; none where it did not pass there.
const std::string* noted(const Pairing& pairing, std::size_t launch, std::size_t which_case,
                         std::size_t gpu) {
  const auto& all = pairing.launches[launch]->behaviours;
  const auto at = all.find({pairing.case_rows[launch][which_case], pairing.gpu_rows[launch][gpu]});
  return at == all.end() ? nullptr : &at->second;
}

/// Whether another GPU of the base noted it, too, and none noted anything else.
bool others_agree(const Pairing& pairing, std::size_t which_case, std::size_t gpu,
                  std::string_view text) {
  bool agreed = false;
  for (std::size_t launch = 0; launch < pairing.base; ++launch) {
    for (std::size_t other = 0; other < pairing.gpus.size(); ++other) {
      const std::string* note = noted(pairing, launch, which_case, other);
      if (note == nullptr || other == gpu) continue;
      if (*note != text) return false;
      agreed = true;
    }
  }
  return agreed;
}

/// A note that differs between launches without any change says nothing when it differs again: only
/// what the base noted every time, or on every GPU, can be held against the other side.
Behaves behaviour_of(const Pairing& pairing, std::size_t which_case, std::size_t gpu,
                     bool same_suite) {
  std::set<std::string_view> base, fresh;
  std::size_t times = 0;
  for (std::size_t launch = 0; launch < pairing.launches.size(); ++launch) {
    const std::string* note = noted(pairing, launch, which_case, gpu);
    if (note == nullptr) continue;
    (launch < pairing.base ? base : fresh).insert(*note);
    if (launch < pairing.base) ++times;
  }
  if (base.empty() || fresh.empty() || base == fresh) return Behaves::alike;
  const bool steady =  // other rows give other notes
      same_suite && base.size() == 1 &&
      (times > 1 || others_agree(pairing, which_case, gpu, *base.begin()));
  return steady ? Behaves::otherwise : Behaves::unjudged;
}

/// By kind and case, the GPUs it concerns.
using Found = std::map<std::pair<ChangeKind, std::uint32_t>, std::vector<std::uint32_t>>;

Heard heard_of(std::optional<ChangeKind> kind, const SideCount& fresh) {
  if (kind == ChangeKind::new_fail || kind == ChangeKind::flaky ||
      kind == ChangeKind::still_failing || kind == ChangeKind::waived) {
    return Heard::failed;
  }
  const bool all_pass = fresh.pass + fresh.unexpected > 0 && fresh.lacking + fresh.skipped == 0;
  return all_pass ? Heard::passed : Heard::nothing;
}

void judge_pair(ConformanceComparison& made, Found& found, const Pairing& pairing,
                std::uint32_t which_case, std::uint32_t gpu, bool same_suite, Waiving& waiving) {
  const auto add = [&](ChangeKind kind) {
    std::vector<std::uint32_t>& gpus = found[{kind, which_case}];
    if (!gpus.empty() && gpus.back() == gpu) return;  // waived for more than one thing
    gpus.push_back(gpu);
    ++made.counts[static_cast<std::size_t>(kind)];
  };
  if (!planned_anywhere(pairing, which_case, gpu)) return;
  const SideCount base = count_of(pairing, which_case, gpu, false);
  const SideCount fresh = count_of(pairing, which_case, gpu, true);
  std::optional<ChangeKind> kind = kind_of(base, fresh);
  // Nothing that could be run would bring these; the first lines name them.
  const PairedGpu& names = pairing.gpus[gpu];
  const bool left_out = names.fresh == 0
                            ? names.left_out
                            : kind == ChangeKind::missing_in_base &&
                                  (names.left_out || made.new_cases.contains(which_case));
  if (left_out) kind.reset();
  ++(left_out ? made.left_out : made.compared);
  const Heard heard = heard_of(kind, fresh);
  const bool waived = waiving.hear(Waives::failure, which_case, gpu, heard);
  if (kind) add(waived ? ChangeKind::waived : *kind);
  made.stopped_in_new = made.stopped_in_new || (fresh.stopped > 0 && !waived);
  // Of what fails the answers that are there count; those that are not are missing all the same.
  if ((waived || kind == ChangeKind::still_failing) && fresh.lacking > 0)
    add(ChangeKind::missing_in_new);
  if (base.pass > 0 && fresh.pass > 0 && !kind) ++made.passed_in_both;
  if (base.skipped > 0 && fresh.skipped > 0 && !kind) ++made.skipped_in_both;
  if (base.pass + base.unexpected + fresh.pass + fresh.unexpected > 0) ++made.passed_anywhere;
  const Maps maps = all_maps_equal(pairing, which_case, gpu)
                        ? Maps::same
                        : compare_maps(pairing, which_case, gpu, same_suite);
  const Behaves behaves = pairing.cases[which_case].starts_with("behaviour.")
                              ? behaviour_of(pairing, which_case, gpu, same_suite)
                              : Behaves::alike;
  if (behaves != Behaves::otherwise && maps != Maps::changed) {
    waiving.hear(Waives::behaviour, which_case, gpu,
                 heard == Heard::passed ? Heard::passed : Heard::nothing);
  } else {
    const bool known = waiving.hear(Waives::behaviour, which_case, gpu, Heard::failed);
    if (behaves == Behaves::otherwise)
      add(known ? ChangeKind::waived : ChangeKind::behaviour_changed);
    if (maps == Maps::changed) add(known ? ChangeKind::waived : ChangeKind::descriptors_changed);
  }
  if (maps == Maps::unjudged) ++made.descriptors_unjudged;
  if (behaves == Behaves::unjudged) made.behaviours_unjudged.insert(which_case);
}

/// On these GPUs. A failure that its own launch waived does not count in the base.
FailedLaunches failed_launches_of(const Pairing& pairing, std::uint32_t which_case,
                                  const std::vector<std::uint32_t>& gpus, bool fresh) {
  FailedLaunches made;
  for (std::size_t launch = 0; launch < pairing.launches.size(); ++launch) {
    if ((launch >= pairing.base) != fresh) continue;
    const LaunchFacts& facts = *pairing.launches[launch];
    bool failed = false, passed = false;
    for (const std::uint32_t gpu : gpus) {
      const auto cell = cell_of(pairing, launch, which_case, gpu);
      if (!cell) continue;
      const bool excused = !fresh && facts.waived_by_launch.contains(*cell);
      failed = failed || (is_failure(facts.verdicts[*cell]) && !excused);
      passed = passed || has_passed(facts.verdicts[*cell]);
    }
    made.failed += failed ? 1U : 0U;
    made.ran += failed || passed ? 1U : 0U;
  }
  return made;
}

/// GPUs that can tell whether a case fails more often: not waived, and it did not always fail
/// there.
std::vector<std::uint32_t> telling_gpus(const Pairing& pairing, std::uint32_t which_case,
                                        const std::vector<std::uint32_t>& waived) {
  std::vector<std::uint32_t> made;
  for (std::uint32_t gpu = 0; gpu < pairing.gpus.size(); ++gpu) {
    if (pairing.is_paired(gpu) && !std::ranges::binary_search(waived, gpu) &&
        count_of(pairing, which_case, gpu, false).pass > 0)
      made.push_back(gpu);
  }
  return made;
}

/// A larger share of launches failed after the change.
bool fails_more(const FailedLaunches& base, const FailedLaunches& fresh) {
  return fresh.failed * base.ran > base.failed * fresh.ran;
}

/// More launches a side after which failures as frequent as these are sure, and stay so; 0 where
/// three times as many as there are would not do.
std::uint32_t launches_to_be_sure(const FailingMore& one, double alpha) {
  const std::uint32_t have = std::min(one.base.ran, one.fresh.ran);
  const auto after = [](const FailedLaunches& side, std::uint32_t launches) {
    return FailedLaunches{side.failed * launches / side.ran, launches};
  };
  std::uint32_t made = 0;
  for (std::uint32_t launches = 3 * have; launches > have; --launches) {
    if (p_of_more(after(one.base, launches), after(one.fresh, launches)) > alpha) break;
    made = launches - have;
  }
  return made;
}

/// Of what is still failing: what fails more often than chance explains is flaky.
void judge_failing_more(ConformanceComparison& made, Found& found, const Pairing& pairing) {
  std::vector<FailingMore> all;
  for (std::uint32_t which = 0; which < pairing.cases.size(); ++which) {
    if (!found.contains({ChangeKind::still_failing, which})) continue;
    const auto gpus = telling_gpus(pairing, which, found[{ChangeKind::waived, which}]);
    const FailingMore one = {.of_case = which,
                             .base = failed_launches_of(pairing, which, gpus, false),
                             .fresh = failed_launches_of(pairing, which, gpus, true)};
    // A case that always failed cannot fail more often: it is not one of the tests.
    if (one.base.failed > 0 && one.base.failed < one.base.ran) all.push_back(one);
  }
  const double alpha = kFailureAlpha / static_cast<double>(std::max<std::size_t>(1, all.size()));
  for (FailingMore& one : all) {
    if (!fails_more(one.base, one.fresh)) continue;
    if (p_of_more(one.base, one.fresh) > alpha) {
      one.more_launches = launches_to_be_sure(one, alpha);
      if (one.more_launches > 0) made.failing_more.push_back(one);
      continue;
    }
    std::vector<std::uint32_t>& still = found[{ChangeKind::still_failing, one.of_case}];
    const auto as_before = [&](std::uint32_t gpu) {
      return !fails_more(failed_launches_of(pairing, one.of_case, {gpu}, false),
                         failed_launches_of(pairing, one.of_case, {gpu}, true));
    };
    const auto more = std::stable_partition(still.begin(), still.end(), as_before);
    std::vector<std::uint32_t>& flaky = found[{ChangeKind::flaky, one.of_case}];
    flaky.insert(flaky.end(), more, still.end());
    std::ranges::sort(flaky);
    const auto moved = static_cast<std::size_t>(still.end() - more);
    made.counts[static_cast<std::size_t>(ChangeKind::still_failing)] -= moved;
    made.counts[static_cast<std::size_t>(ChangeKind::flaky)] += moved;
    still.erase(more, still.end());
  }
  std::erase_if(found, [](const auto& one) { return one.second.empty(); });
}

}  // namespace

double p_of_more(const FailedLaunches& base, const FailedLaunches& fresh) {
  const auto choices = [](std::uint32_t of, std::uint32_t chosen) {  // logarithm of their number
    return std::lgamma(of + 1.0) - std::lgamma(chosen + 1.0) - std::lgamma(of - chosen + 1.0);
  };
  const std::uint32_t failed = base.failed + fresh.failed;
  double p = 0;
  for (std::uint32_t k = fresh.failed; k <= std::min(failed, fresh.ran); ++k) {
    p += std::exp(choices(fresh.ran, k) + choices(base.ran, failed - k) -
                  choices(base.ran + fresh.ran, failed));
  }
  return p;
}

SideCount count_of(const Pairing& pairing, std::size_t which_case, std::size_t gpu, bool fresh) {
  SideCount made;
  for (std::size_t launch = 0; launch < pairing.launches.size(); ++launch) {
    if ((launch >= pairing.base) != fresh) continue;
    const auto cell = cell_of(pairing, launch, which_case, gpu);
    const LaunchFacts& facts = *pairing.launches[launch];
    count(made, cell ? facts.verdicts[*cell] : Verdict::not_run);
    made.excused += cell && facts.waived_by_launch.contains(*cell) ? 1U : 0U;
  }
  return made;
}

ConformanceComparison compare_conformance(const Pairing& pairing, bool same_suite, bool new_suite,
                                          Waiving& waiving) {
  ConformanceComparison made;
  Found found;
  for (std::uint32_t which_case = 0; new_suite && which_case < pairing.cases.size(); ++which_case) {
    const auto end = pairing.case_rows.begin() + static_cast<std::ptrdiff_t>(pairing.base);
    if (std::none_of(pairing.case_rows.begin(), end,
                     [&](const auto& rows) { return rows[which_case] != kNoRow; }))
      made.new_cases.insert(which_case);
  }
  for (std::uint32_t which_case = 0; which_case < pairing.cases.size(); ++which_case) {
    for (std::uint32_t gpu = 0; gpu < pairing.gpus.size(); ++gpu) {
      judge_pair(made, found, pairing, which_case, gpu, same_suite, waiving);
    }
  }
  judge_failing_more(made, found, pairing);
  // Cases that changed alike on the same GPUs are one thing that happened.
  std::map<std::pair<ChangeKind, std::vector<std::uint32_t>>, std::vector<std::uint32_t>> alike;
  for (auto& [what, gpus] : found) alike[{what.first, std::move(gpus)}].push_back(what.second);
  for (auto& [what, cases] : alike) made.groups.push_back({what.first, cases, what.second});
  return made;
}

}  // namespace tidemark
