// Decides which configuration a product gets, by what was timed.
#include "kernels/cuda/gemm/tuning/gemm_tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "kernels/error.hpp"

namespace tidemark::kernels {
namespace {

using Standing = TriedConfiguration::Standing;
using Kind = TuningVerdict::Kind;

double quartiles_apart(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() * 3 / 4] - values[values.size() / 4];
}

bool is_time(double ns) { return std::isfinite(ns) && ns > 0; }

/// The score of a duel that counts.
std::optional<DuelScore> counted(const std::vector<PairTimes>& pairs) {
  if (pairs.size() < kFewestPairs) return std::nullopt;
  for (const PairTimes& pair : pairs)
    if (!is_time(pair.before_ns) || !is_time(pair.ours_ns) || !is_time(pair.behind_ns))
      return std::nullopt;
  const DuelScore score = score_of(pairs);
  if (std::abs(score.drift) > kVoidDrift) return std::nullopt;
  return score;
}

/// What the kinds of duel say that count for both.
struct Together {
  double gain = 0;
  double noise = 0;
};

std::optional<Together> together(const TriedConfiguration& tried,
                                 const TriedConfiguration& present) {
  double logs = 0, own = 0, itself = 0, itself_logs = 0;
  int kinds = 0;
  for (const auto member : {&TriedConfiguration::at_work, &TriedConfiguration::rested}) {
    const std::optional<DuelScore> score = counted(tried.*member);
    const std::optional<DuelScore> against_itself = counted(present.*member);
    if (!score || !against_itself) continue;
    logs += std::log(score->ratio);
    own += score->spread;
    itself += against_itself->spread;
    itself_logs += std::log(against_itself->ratio);
    ++kinds;
  }
  if (kinds == 0) return std::nullopt;
  const double noise = std::max(
      {kLeastGain, own / kinds, itself / kinds, std::abs(std::expm1(itself_logs / kinds))});
  return Together{.gain = std::expm1(logs / kinds), .noise = noise};
}

const TriedConfiguration* named(const TriedProduct& tried, const std::string& name) {
  for (const TriedConfiguration& one : tried.all)
    if (one.name == name) return &one;
  return nullptr;
}

void add_times(TuningVerdict& verdict, const TriedConfiguration& chosen) {
  if (const auto score = counted(chosen.at_work)) verdict.at_work_ns = score->ours_ns;
  if (const auto score = counted(chosen.rested)) verdict.rested_ns = score->ours_ns;
}

/// Why no samples can be believed; empty where they can.
std::string breach(const TriedProduct& tried) {
  if (!tried.fault.empty()) return tried.fault;
  for (const TriedConfiguration& one : tried.all)
    if (one.standing == Standing::wrong) return fmt::format("{}: {}", one.name, one.trouble);
  return {};
}

/// Replaced, kept or undecided, by the duels of all others; `verdict` is that of the present one.
void hold_against(const TriedConfiguration& present, const TriedProduct& tried,
                  TuningVerdict& verdict) {
  const TriedConfiguration* best = nullptr;
  bool some = false, all = true;
  for (const TriedConfiguration& one : tried.all) {
    if (&one == &present || one.at_work.empty()) continue;
    const std::optional<Together> told = together(one, present);
    some = some || told;
    all = all && told;
    if (!told || told->gain <= told->noise || told->gain <= verdict.gain) continue;
    best = &one;
    verdict.gain = told->gain;
    verdict.noise = told->noise;
  }
  if (best != nullptr) {
    verdict.kind = Kind::replaced;
    verdict.configuration = best->name;
    verdict.at_work_ns = verdict.rested_ns = 0;
    add_times(verdict, *best);
  } else if (some || all) {
    verdict.kind = Kind::kept;
  } else {
    verdict.noise = 0;
    verdict.reason = tried.cut_short ? "its time was over" : "no duel of the fastest counts";
  }
}

double seconds_of(const TuningEffort& effort) {
  const double pair = 3 * (effort.settle_s + effort.sample_s + 0.02) + 3 * (effort.rest_s + 0.01);
  return (effort.finalists + 1) * effort.pairs * pair + effort.race_rounds * 0.7 + 2 +
         effort.warm_s;
}

}  // namespace

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.at(values.size() / 2);
}

DuelScore score_of(const std::vector<PairTimes>& pairs) {
  if (pairs.empty()) return {};
  std::vector<double> before, between, behind, ratios;
  for (const PairTimes& pair : pairs) {
    before.push_back(pair.before_ns);
    between.push_back(pair.ours_ns);
    behind.push_back(pair.behind_ns);
    ratios.push_back((pair.before_ns + pair.behind_ns) / 2 / pair.ours_ns);
  }
  const double first = median(before);
  const double second = median(behind);
  return {.ours_ns = median(between),
          .theirs_ns = (first + second) / 2,
          .ratio = median(ratios),
          .spread = quartiles_apart(ratios),
          .drift = second / first - 1,
          .pairs = pairs};
}

TuningEffort effort_for(double seconds) {
  constexpr TuningEffort kFull;
  constexpr TuningEffort kShorter{.finalists = 2, .pairs = 4};
  constexpr TuningEffort kShort{.warm_s = 0.5,
                                .race_rounds = 2,
                                .finalists = 2,
                                .pairs = 3,
                                .settle_s = 0.2,
                                .sample_s = 0.2};
  constexpr TuningEffort kBrief{.warm_s = 0.5,
                                .race_rounds = 2,
                                .finalists = 1,
                                .pairs = 3,
                                .settle_s = 0.1,
                                .sample_s = 0.1};
  constexpr TuningEffort kLeast{.warm_s = 0,
                                .race_rounds = 1,
                                .finalists = 1,
                                .pairs = 3,
                                .settle_s = 0.1,
                                .sample_s = 0.1,
                                .rest_s = 0.1};
  constexpr std::array kEfforts = {kFull, kShorter, kShort, kBrief, kLeast};
  if (seconds <= 0) return kFull;
  const auto* found = std::find_if(kEfforts.begin(), kEfforts.end() - 1, [&](const auto& effort) {
    return seconds_of(effort) <= seconds;
  });
  TuningEffort effort = *found;
  effort.budget_s = seconds;
  return effort;
}

TuningVerdict verdict_of(const TriedProduct& tried) {
  TuningVerdict verdict{.configuration = tried.present};
  if (verdict.reason = breach(tried); !verdict.reason.empty()) {
    verdict.kind = Kind::broken;
    return verdict;
  }
  const TriedConfiguration* const present = named(tried, tried.present);
  if (present == nullptr || present->standing != Standing::exact) {
    verdict.reason = fmt::format("{}: {}", tried.present,
                                 present == nullptr ? "was not tried" : present->trouble);
    return verdict;
  }
  add_times(verdict, *present);
  const std::optional<Together> itself = together(*present, *present);
  if (!itself) {
    verdict.reason = tried.cut_short ? "its time was over"
                                     : "the present choice drifted by more than 2 % against itself";
    return verdict;
  }
  verdict.noise = itself->noise;
  hold_against(*present, tried, verdict);
  return verdict;
}

#ifndef TIDEMARK_WITH_CUDA
TriedProduct try_configurations(const GemmShape& /*product*/, const TuningEffort& /*effort*/,
                                const GemmTable& /*table*/) {
  throw Error(
      "this program was built without CUDA: configure with -DTIDEMARK_CUDA=ON where nvcc is found");
}
#endif

}  // namespace tidemark::kernels
