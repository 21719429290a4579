// What became of each measured number between the two sides: the launch is the unit, GPUs are
// paired, and a shift of all GPUs or of all cases of a launch is told from that of one.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/compare/pairing.hpp"
#include "reports/compare/speed/moderated.hpp"

namespace tidemark {

enum class SpeedVerdict : std::uint8_t {
  regressed,
  improved,
  ambiguous,
  with_all,   // changed by what all metrics share, which is a finding of its own
  not_worse,  // a loss above kNotWorseFloors is excluded, a smaller one is not
  same,       // a loss above the floor is excluded
  not_compared
};
inline constexpr std::size_t kSpeedVerdicts = 7;
inline constexpr std::array<std::string_view, kSpeedVerdicts> kSpeedVerdictNames = {
    "regressed", "improved", "ambiguous", "with_all", "not_worse", "same", "not_compared"};

constexpr std::string_view name_of(SpeedVerdict verdict) {
  return kSpeedVerdictNames[static_cast<std::size_t>(verdict)];
}

/// No regression, as far as the launches tell.
constexpr bool is_kept(SpeedVerdict verdict) {
  return verdict == SpeedVerdict::same || verdict == SpeedVerdict::not_worse;
}

constexpr bool is_change(SpeedVerdict verdict) {
  return verdict == SpeedVerdict::regressed || verdict == SpeedVerdict::improved;
}

/// A least effect of its own for the cases of a glob.
struct CaseFloor {
  std::string cases;
  double floor = 0;  // 0.01 for 1 %
};

/// What counts as a change at all.
struct SpeedPolicy {
  double floor = 0.01;                 // least effect that matters, natural logarithm
  std::vector<CaseFloor> floors = {};  // the same in some cases; the last that matches counts
  double false_discovery = 0.05;       // Benjamini-Hochberg over all series
  double shared_alpha = 0.01;          // of the one test of the shared shift
};

/// Launches a side below which a small change cannot be believed.
inline constexpr std::size_t kFewestLaunches = 3;
/// Launches a side from which those of one side tell how it scatters.
inline constexpr std::size_t kSureLaunches = 5;
/// With fewer than kFewestLaunches, an effect must be this many times the floor.
inline constexpr double kFewLaunchesFloors = 3;
/// Of the floor, of a metric that hardly differs from launch to launch (Effects::exact): half a
/// percent more cycles are a change.
inline constexpr double kExactFloors = 0.2;
/// Times the spread of the base, which few launches understate by half: new launches that lie
/// farther below it make the new side unstable.
inline constexpr double kUnstableSpreads = 10;
/// Of the floor, the largest loss with which a metric is not worse.
inline constexpr double kNotWorseFloors = 3;
/// More launches a side than anybody runs to decide a metric.
inline constexpr std::size_t kMostLaunchesASide = 20;
/// Of the floor, of how far the slowest tenth of the samples lies from their median.
inline constexpr double kTailFloors = 3;

/// Fewer than kFewestLaunches on a side.
bool is_few(const Effect& effect);

/// The least effect that counts in a case.
double floor_of(std::string_view case_name, const SpeedPolicy& policy);

/// One metric of one case. Effects are in natural logarithms, above 0 for better.
struct SpeedFinding {
  std::uint32_t of_case = 0;  // index into the pairing
  std::string metric = {}, unit = {};
  bool higher_is_better = true;
  SpeedVerdict verdict = SpeedVerdict::not_compared;
  bool waived = false;         // regressed, and somebody answers for it
  std::string why = {};        // why it could not be compared, or is ambiguous
  Effect own = {};             // without the shift that all series share
  Effect in_all = {};          // with it
  double total = 0;            // the effect of in_all
  double loss_limit = 0;       // largest loss in all that is not excluded; NaN: none is
  bool exact = false;          // Effects::exact: judged by a fifth of the floor
  std::string reference = {};  // what other GPUs of the model have; empty where it is not known
  double floor = 0;            // least effect that counts
  double floor_given = 0;      // the same as asked for, before exactness and `step`
  double step = 0;             // of a coarse clock, over the root of its GPUs: less cannot be told
  std::size_t launches_needed =
      0;                     // a side, to decide what is ambiguous; 0: kMostLaunchesASide do not
  double smallest_seen = 0;  // least own effect that would have been found 8 times of 10
  double base_value = 0, fresh_value = 0;     // geometric means over launches and GPUs, in the unit
  std::size_t gpus = 0, gpus_left_out = 0;    // GPUs that the means are over; the other paired ones
  std::vector<std::uint32_t> without = {};    // of those: with no value in some launch
  std::size_t launches_left_out = 0;          // Series::launches_left_out
  std::size_t gpus_unjudged = 0;              // of these: of which nothing else says how fast
  std::vector<std::uint32_t> mean_over = {};  // those GPUs, indices into the pairing
  std::vector<double> launches =
      {};                          // by launch: mean over those GPUs of the logarithm, NaN without
  std::vector<double> tails = {};  // the same of SeriesOfLaunch::tails

  /// A launch that has a value has no tail: the samples are not compared.
  bool lacks_tails() const;
};

/// Of one GPU: `own` is against the other GPUs, or of those judged alone against its own past.
struct GpuChange {
  double total = 0;  // the effect in all
  Effect own;
};

/// GpuFinding::of_case of what all metrics of a GPU have in common.
inline constexpr std::uint32_t kAllMetrics = kNoRow;
/// Chance that a GPU is named where each side has one launch, by how the other GPUs scatter.
inline constexpr double kFarAlpha = 0.01;

/// GPUs whose numbers changed unlike those of the other GPUs; of two or three, unlike the mean over
/// them. `same`: those that did not change where the others did; `with_all`: those that changed as
/// the others did, and less.
struct GpuFinding {
  std::uint32_t of_case = kAllMetrics;
  std::string metric = {};  // empty with it
  SpeedVerdict verdict = SpeedVerdict::regressed;
  std::vector<std::uint32_t> gpus = {};  // indices into the pairing, ascending
  std::vector<GpuChange> changes = {};   // of each
  bool waived = false;
  bool alone = false;  // one of two or three: told from its own past, not from the others

  /// Whether it is about this metric, too.
  bool covers(std::uint32_t which_case, std::string_view name) const {
    return of_case == kAllMetrics || (of_case == which_case && metric == name);
  }

  /// The smallest and the largest effect in all.
  std::pair<double, double> range() const;
};

/// A GPU that is far slower in the mean of its new launches, and whose launches lie too far apart
/// to say that it changed: sick in some of them.
struct UnsteadyGpu {
  std::uint32_t gpu = 0;    // index into the pairing
  std::size_t metrics = 0;  // that it has
  double loss = 0;          // in all, in the median of these
};

/// A launch that lies far from the others of its side, and does not count: in some metrics
/// (Effect::left_out), in what all share, or hardly, since all metrics scatter there
/// (Effects::weights).
struct OddLaunch {
  std::size_t launch = 0;                 // in the pairing
  std::vector<std::size_t> metrics = {};  // of SpeedComparison::series; empty: all of them
  double distance = 0;  // from the other launches of its side, in the median of these metrics
};
/// Launches with a smaller weight are odd where they lie so many floors from the others.
inline constexpr double kOddWeight = 0.1, kOddFloors = 3;

/// What goes on within the sides, from launch to launch, looks like a change where one side ran
/// after the other. Metrics that rise or fall while the sides alternate make none.
struct Drift {
  /// Of a change that is no drift: within the sides nothing goes its way from launch to launch. 1
  /// where one side did not run behind the other. All metrics are one number a launch, so that
  /// those that scatter together count once.
  double p_of_change = 1;

  /// The same of what all metrics share, which is in none of the numbers above.
  double p_of_shared = 1;

  bool of_all() const { return p_of_shared < 0.01; }
  bool seen() const { return p_of_change < 0.02 || of_all(); }
};

/// Of the rows that are not exact, without what they share, which would make all of them drift
/// alike, and of that. `effects`: of this matrix; `at`: when each launch ran, in any unit; `order`:
/// of the sides.
Drift drift_in(const LaunchMatrix& matrix, const Effects& effects, std::span<const double> at,
               int order);

struct SpeedComparison {
  SpeedPolicy policy;
  std::vector<SpeedFinding> series;  // in the order of cases
  std::vector<GpuFinding> gpus;
  std::vector<UnsteadyGpu> unsteady;
  std::vector<OddLaunch> odd;
  Effects effects;                                   // behind `series` where compared
  SpeedVerdict shared = SpeedVerdict::not_compared;  // of the shift that all series share
  std::string why_shared = {};                       // where it is a regression by instability
  Drift drift;                                       // of the series' own, the shift taken off
  std::array<std::size_t, kSpeedVerdicts> counts{};  // of series, by verdict
};

/// Launches that lie far from the others of their side; `matrix`: of the series at `judged`.
std::vector<OddLaunch> odd_launches(const LaunchMatrix& matrix, const Effects& effects,
                                    const std::vector<std::size_t>& judged, double floor);

/// Makes a regression of each of these series whose new launches are partly as the base and partly
/// far slower: their mean is so unsure that no test finds it, and each of them is a slow run.
void judge_unstable(SpeedComparison& made, const LaunchMatrix& matrix,
                    const std::vector<std::size_t>& judged);

/// The same of what all series share.
void judge_unstable_shift(SpeedComparison& made, std::size_t base);

/// How much each launch counts for what is the finding's own; 0 of one that is left out.
std::vector<double> weights_in(const Effects& effects, const SpeedFinding& finding);

SpeedComparison compare_speed(const Pairing& pairing, const SpeedPolicy& policy);

/// The verdict on an effect with this floor. `few`: fewer than kFewestLaunches on a side.
SpeedVerdict judge_effect(const Effect& effect, double floor, double alpha, bool few);

}  // namespace tidemark
