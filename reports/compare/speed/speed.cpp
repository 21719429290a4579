// First the GPUs that changed unlike the others (speed/gpus.hpp), then the cases over the rest,
// then what all cases share.
#include "reports/compare/speed/speed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "reports/base/statistics.hpp"
#include "reports/base/words.hpp"
#include "reports/compare/speed/gpus.hpp"
#include "reports/compare/speed/moderated.hpp"
#include "reports/compare/speed/series.hpp"

namespace tidemark {
namespace {

/// Mean over the rows that are not left out; NaN where a launch has none.
std::vector<double> means_of(const LaunchMatrix& matrix, const std::vector<bool>& left_out) {
  std::vector<double> made(matrix.launches);
  for (std::size_t launch = 0; launch < matrix.launches; ++launch) {
    double sum = 0;
    std::size_t n = 0;
    for (std::size_t row = 0; row < matrix.rows; ++row) {
      if (left_out[row]) continue;
      sum += matrix.at(row, launch);
      ++n;
    }
    made[launch] = n == 0 ? kNoNumber : sum / static_cast<double>(n);
  }
  return made;
}

double mean_of(const std::vector<double>& values, const std::vector<double>& weights,
               std::size_t first, std::size_t end) {
  double sum = 0, weight = 0;
  for (std::size_t i = first; i < end; ++i) {
    if (std::isnan(values[i])) continue;
    sum += weights[i] * values[i];
    weight += weights[i];
  }
  return weight > 0 ? sum / weight : kNoNumber;
}

/// What a person reads beside the verdict: the row's own part over the launches that count for it,
/// and what it shares with the others over all, as in Effects::total_of.
void fill_means(SpeedFinding& finding, const Effects& effects, std::size_t base) {
  const std::vector<double> weights = weights_in(effects, finding);
  std::vector<double> of_shared = effects.weights;
  for (const std::size_t launch : effects.shared.left_out) of_shared[launch] = 0;
  std::vector<double> own = finding.launches;
  for (std::size_t i = 0; i < own.size() && !finding.exact; ++i) own[i] -= effects.shift[i];
  const auto mean = [&](std::size_t first, std::size_t end) {
    const double of_own = mean_of(own, weights, first, end);
    return finding.exact ? of_own : of_own + mean_of(effects.shift, of_shared, first, end);
  };
  const double before = mean(0, base), after = mean(base, own.size());
  const double sign = finding.higher_is_better ? 1 : -1;
  finding.base_value = std::exp(sign * before);
  finding.fresh_value = std::exp(sign * after);
  finding.total = after - before;
}

/// Before anything is known of the launches.
Effects no_effects(std::size_t launches) {
  Effects made;
  made.shift.assign(launches, 0.0);
  made.weights.assign(launches, 1.0);
  return made;
}

/// The least distance of two values, natural logarithm, where most are the same as another, as
/// numbers of a coarse clock are; else 0.
double step_of(const LaunchMatrix& goodness) {
  std::vector<double> values = goodness.values;
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  std::ranges::sort(values);
  std::size_t equal = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 1; i < values.size(); ++i) {
    const double distance = values[i] - values[i - 1];
    equal += distance == 0 ? 1U : 0U;
    if (distance > 0) least = std::min(least, distance);
  }
  return 2 * equal > values.size() && std::isfinite(least) ? least : 0;
}

SpeedFinding finding_of(const Series& series, const Pairing& pairing,
                        const std::vector<bool>& left_out) {
  SpeedFinding made{.of_case = series.of_case,
                    .metric = series.metric,
                    .unit = series.unit,
                    .higher_is_better = series.higher_is_better};
  made.floor_given = made.floor = series.floor;
  made.launches = means_of(series.goodness, left_out);
  for (std::size_t i = 0; i < left_out.size(); ++i) {
    if (!left_out[i]) made.mean_over.push_back(series.gpus[i]);
  }
  made.gpus = static_cast<std::size_t>(std::ranges::count(left_out, false));
  made.step = step_of(series.goodness) / std::sqrt(std::max(1.0, static_cast<double>(made.gpus)));
  made.gpus_left_out = series.without.size() + series.gpus.size() - made.gpus;
  made.launches_left_out = series.launches_left_out;
  made.without = series.without;
  for (std::size_t i = 0; i < series.gpus.size(); ++i) {
    if (series.partial[i]) made.without.push_back(series.gpus[i]);
  }
  std::ranges::sort(made.without);
  const bool judged_alone = series.gpus.size() >= kFewestGpus;
  made.gpus_unjudged =
      static_cast<std::size_t>(std::ranges::count_if(series.lost_in_base, [&](std::uint32_t gpu) {
        return !judged_alone || std::ranges::binary_search(series.without, gpu);
      }));
  made.tails = means_of(series.tails, left_out);
  fill_means(made, no_effects(pairing.launches.size()), pairing.base);
  made.smallest_seen = made.loss_limit = made.own.effect = kNoNumber;
  if (!series.unfit.empty()) {
    made.why = series.unfit;
  } else if (made.gpus == 0) {
    made.why = "no GPU has it in every launch of both sides";
  } else if (std::isnan(made.total)) {
    made.why = "one side has no value of it";
  }
  return made;
}

/// The least effect found 8 times of 10 if it were the only one among `tests`.
double smallest_seen(const Effect& own, const Effect& in_all, double floor, std::size_t tests,
                     double alpha) {
  if (std::isnan(own.standard_error)) return kFewLaunchesFloors * floor;
  constexpr double kMissed = 0.2, kEach = kMissed / 2, kLonger = 0.8;
  // The scatter of all metrics, which judges one launch a side, has longer tails with the change.
  const double degrees = (own.base == 1 && own.fresh == 1 ? kLonger : 1) * own.degrees;
  const double needed = student_upper(alpha / (2 * static_cast<double>(tests)), degrees);
  const double by_test = (needed + student_upper(kMissed, degrees)) * own.standard_error;
  // A change as large as the floor is measured below it every other time, and both the change and
  // what it comes to must lie beyond.
  const double error =
      is_few(own) ? own.standard_error : std::fmax(own.standard_error, in_all.standard_error);
  const double least = is_few(own) ? kFewLaunchesFloors * floor : floor;
  return std::max(by_test, least + student_upper(kEach, own.degrees) * error);
}

/// What one-sided non-inferiority says of a loss. With few launches a loss below three floors is no
/// finding, however surely it was measured, and excluding larger ones is no answer.
SpeedVerdict kept_within(double loss_limit, double floor, bool few) {
  if (loss_limit <= floor) return SpeedVerdict::same;
  const bool not_worse = !few && loss_limit <= kNotWorseFloors * floor;
  return not_worse ? SpeedVerdict::not_worse : SpeedVerdict::ambiguous;
}

/// The verdict by the change itself and by what it comes to: nothing is improved that is not faster
/// in all, and nothing is the same that is slower in all.
SpeedVerdict in_view_of(SpeedVerdict own, const SpeedFinding& finding, SpeedVerdict shared) {
  if (own == SpeedVerdict::not_compared) return own;
  const double total = finding.in_all.effect;
  if (std::abs(total) > finding.floor) {
    if (is_change(own) && (total < 0) == (finding.own.effect < 0)) return own;
    if (shared == (total < 0 ? SpeedVerdict::regressed : SpeedVerdict::improved))
      return SpeedVerdict::with_all;
  }
  // A loss that the clock cannot tell is not excluded by it.
  return kept_within(finding.loss_limit, std::min(finding.floor, finding.floor_given),
                     is_few(finding.own));
}

/// Of one launch a side nothing says how much all metrics differ by chance.
double loss_limit_of(const SpeedFinding& finding) {
  if (!std::isnan(finding.in_all.standard_error)) return finding.in_all.loss_limit();
  return finding.own.loss_limit() + finding.own.effect - finding.in_all.effect;
}

/// So many launches a side as exclude a loss of kNotWorseFloors, or show one of the floor, if the
/// effect stays as it is; 0 where kMostLaunchesASide do not.
std::size_t launches_to_decide(const SpeedFinding& finding) {
  const Effect& effect = finding.in_all;
  if (std::isnan(effect.standard_error)) return kSureLaunches;
  constexpr double kTail = 0.05;
  const auto have = static_cast<double>(std::min(effect.base, effect.fresh));
  const double loss = -effect.effect;
  const double distance = std::fmax(kNotWorseFloors * finding.floor - loss, loss - finding.floor);
  for (auto launches = std::max(kSureLaunches, std::min(effect.base, effect.fresh) + 1);
       launches <= kMostLaunchesASide; ++launches) {
    const auto side = static_cast<double>(launches);
    const double error = effect.standard_error * std::sqrt(have / side);
    if (student_upper(kTail, 2 * side - 2) * error <= distance) return launches;
  }
  return 0;
}

std::string why_ambiguous(const SpeedFinding& finding, bool few) {
  if (finding.floor > finding.floor_given)
    return fmt::format("its numbers move in steps, so that changes below {:.1f} % cannot be told",
                       100 * finding.step);
  if (few) return fmt::format("fewer than {} launches a side", kFewestLaunches);
  if (finding.launches_needed == 0)
    return fmt::format("too noisy: {} launches a side would not exclude a loss",
                       kMostLaunchesASide);
  return "the noise hides whether it lost what counts";
}

/// Hours since the first launch.
std::vector<double> times_of(const Pairing& pairing) {
  constexpr double kHour = 3600;
  std::vector<double> made;
  for (const LaunchFacts* launch : pairing.launches) {
    made.push_back(
        (launch->launch.created_unix_s - pairing.launches.front()->launch.created_unix_s) / kHour);
  }
  return made;
}

/// The findings that can be judged, in the order of the rows of Effects.
std::vector<std::size_t> judged_of(const SpeedComparison& made) {
  std::vector<std::size_t> judged;
  for (std::size_t i = 0; i < made.series.size(); ++i) {
    if (made.series[i].why.empty()) judged.push_back(i);
  }
  return judged;
}

/// `values`: of each of these findings, by launch.
LaunchMatrix matrix_of(const SpeedComparison& made, const Pairing& pairing,
                       const std::vector<std::size_t>& findings,
                       std::vector<double> SpeedFinding::*values = &SpeedFinding::launches) {
  LaunchMatrix matrix(findings.size(), pairing.launches.size(), pairing.base);
  for (std::size_t row = 0; row < findings.size(); ++row) {
    std::ranges::copy(made.series[findings[row]].*values, &matrix.at(row, 0));
  }
  return matrix;
}

void test_series(SpeedComparison& made, const Pairing& pairing) {
  const std::vector<std::size_t> judged = judged_of(made);
  std::vector<bool> counts;
  counts.reserve(judged.size());
  for (const std::size_t i : judged) counts.push_back(is_count(made.series[i].unit));
  made.effects = moderated_effects(matrix_of(made, pairing, judged), counts);
}

/// Before judge_series, which gives a reason to what it finds ambiguous.
void warn_of_launches(SpeedComparison& made, const Pairing& pairing, const SpeedPolicy& policy) {
  const LaunchMatrix matrix = matrix_of(made, pairing, judged_of(made));
  made.drift = drift_in(matrix, made.effects, times_of(pairing), order_of(pairing));
  made.odd = odd_launches(matrix, made.effects, judged_of(made), policy.floor);
}

void judge_series(SpeedComparison& made, const Pairing& pairing, const SpeedPolicy& policy) {
  if (made.effects.separated) {
    made.shared = judge_effect(made.effects.shared, policy.floor, policy.shared_alpha,
                               is_few(made.effects.shared));
    judge_unstable_shift(made, pairing.base);
  }
  const std::vector<std::size_t> judged = judged_of(made);
  for (std::size_t row = 0; row < judged.size(); ++row) {
    SpeedFinding& finding = made.series[judged[row]];
    finding.own = made.effects.rows[row];
    finding.exact = made.effects.exact[row];
    finding.in_all = made.effects.total_of(row);
    fill_means(finding, made.effects, pairing.base);
    if (finding.exact) {
      finding.floor = kExactFloors * finding.floor_given;
    } else if (!is_count(finding.unit)) {
      constexpr double kBeyond = 1.01;  // one step itself may be chance
      finding.floor = std::max(finding.floor, kBeyond * finding.step);
    }
    const bool few = is_few(finding.own);
    // Variances of few launches are unsure: the whole of it would be 6 % with three a side.
    const bool sure = std::min(finding.own.base, finding.own.fresh) >= kSureLaunches;
    const double alpha = (sure ? 1 : 0.5) * policy.false_discovery;
    const SpeedVerdict own = judge_effect(finding.own, finding.floor, alpha, few);
    finding.loss_limit = loss_limit_of(finding);
    finding.verdict = in_view_of(own, finding, made.shared);
    finding.smallest_seen =
        smallest_seen(finding.own, finding.in_all, finding.floor, judged.size(), alpha);
    if (finding.verdict != SpeedVerdict::ambiguous) continue;
    finding.launches_needed = finding.floor > finding.floor_given ? 0 : launches_to_decide(finding);
    finding.why = why_ambiguous(finding, few);
  }
  judge_unstable(made, matrix_of(made, pairing, judged), judged);
}

/// A median that stays while many samples become slow is a regression all the same.
void judge_tails(SpeedComparison& made, const Pairing& pairing, const SpeedPolicy& policy) {
  std::vector<std::size_t> judged;
  for (std::size_t i = 0; i < made.series.size(); ++i) {
    const SpeedFinding& finding = made.series[i];
    if (finding.verdict == SpeedVerdict::not_compared || finding.lacks_tails()) continue;
    judged.push_back(i);
  }
  const LaunchMatrix matrix = matrix_of(made, pairing, judged, &SpeedFinding::tails);
  const Effects effects = moderated_effects(matrix);
  const std::vector<double> even(matrix.launches, 1.0);
  for (std::size_t row = 0; row < judged.size(); ++row) {
    SpeedFinding& finding = made.series[judged[row]];
    const Effect& effect = effects.rows[row];
    const double floor = kTailFloors * finding.floor_given;
    // Tails of one launch say little: 17 % and 32 % were seen of one exchange without a change.
    if (finding.verdict == SpeedVerdict::regressed || is_few(effect) ||
        judge_effect(effect, floor, policy.false_discovery, is_few(effect)) !=
            SpeedVerdict::regressed) {
      continue;
    }
    finding.verdict = SpeedVerdict::regressed;
    finding.launches_needed = 0;
    const auto mean = [&](std::size_t first, std::size_t end) {
      return 100 * std::expm1(mean_of(finding.tails, even, first, end));
    };
    finding.why = fmt::format(
        "unsteady: the slowest tenth of its samples lies {:.1f} % from their median, before {:.1f} "
        "%",
        mean(pairing.base, matrix.launches), mean(0, pairing.base));
  }
}

}  // namespace

std::vector<double> weights_in(const Effects& effects, const SpeedFinding& finding) {
  std::vector<double> made =
      finding.exact ? std::vector<double>(finding.launches.size(), 1.0) : effects.weights;
  for (const std::size_t launch : finding.own.left_out) made[launch] = 0;
  return made;
}

bool SpeedFinding::lacks_tails() const {
  return !std::ranges::equal(tails, launches, [](double tail, double value) {
    return std::isnan(tail) == std::isnan(value);
  });
}

bool is_few(const Effect& effect) { return std::min(effect.base, effect.fresh) < kFewestLaunches; }

double floor_of(std::string_view case_name, const SpeedPolicy& policy) {
  double floor = policy.floor;
  for (const CaseFloor& one : policy.floors) {
    if (glob_matches(one.cases, case_name)) floor = one.floor;
  }
  return floor;
}

SpeedVerdict judge_effect(const Effect& effect, double floor, double alpha, bool few) {
  if (effect.base == 0 || effect.fresh == 0) return SpeedVerdict::not_compared;
  const SpeedVerdict changed = effect.effect < 0 ? SpeedVerdict::regressed : SpeedVerdict::improved;
  const double size = std::abs(effect.effect);
  const double least = few ? kFewLaunchesFloors * floor : floor;
  // Without a spread there is no test; the wide margin stands in for it.
  const bool untested = few && std::isnan(effect.q);
  if (size >= least && (untested || effect.q < alpha)) return changed;
  return kept_within(effect.loss_limit(), floor, few);
}

SpeedComparison compare_speed(const Pairing& pairing, const SpeedPolicy& policy) {
  SpeedComparison made;
  made.policy = policy;
  std::vector<Series> all = series_of(pairing);
  for (Series& series : all) series.floor = floor_of(pairing.cases[series.of_case], policy);
  GpuJudgment gpus = judge_gpus(all, pairing, policy);
  made.gpus = std::move(gpus.findings);
  made.unsteady = std::move(gpus.unsteady);
  for (std::size_t i = 0; i < all.size(); ++i) {
    made.series.push_back(finding_of(all[i], pairing, gpus.left_out[i]));
  }
  test_series(made, pairing);
  warn_of_launches(made, pairing, policy);
  judge_series(made, pairing, policy);
  judge_tails(made, pairing, policy);
  for (const SpeedFinding& finding : made.series) {
    ++made.counts[static_cast<std::size_t>(finding.verdict)];
  }
  return made;
}

}  // namespace tidemark
