// Levels of a metric over launches, and where they change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "reports/history/chronicle.hpp"

namespace tidemark {

// Where a series of launches goes from one level to another: seeded binary segmentation with a t
// test at each split, made deaf to single odd launches.

/// Fewest launches of a level: a change is told after three launches behind it, not after one.
inline constexpr std::size_t kLeastLevel = 3;
/// Fewest launches of a series that can have a change.
inline constexpr std::size_t kLeastSeries = 2 * kLeastLevel;

struct ChangePoint {
  std::size_t at = 0;              // first index of the new level
  std::size_t first = 0, end = 0;  // the old level is [first, at), the new one [at, end)
  double p = 1;     // of the whole series: times the number of splits that were tried
  double step = 0;  // new level less the old one, medians
};

/// First indices, ascending, from which another release was measured: its level is another one.
using Releases = std::span<const std::size_t>;

/// The p of the strongest change of level of at least `floor`, 1 where there is none. Tried are the
/// splits between two releases, and all others, three launches from the ends, of the seeded
/// intervals of each release: Kovacs, Buehlmann, Li and Munk,
/// "Seeded binary segmentation", Biometrika 110 (2023); each is a two-sample t test, and
/// Bonferroni's bound for the largest of them is Worsley's, JASA 74 (1979) 365. Values that lie
/// more than three standard deviations from the median of their neighbours are drawn in first
/// (Hampel's filter; Pearson, IEEE Trans. Control Systems Technology 10 (2002) 55). Values are
/// finite.
double strongest_change(std::span<const double> values, double floor, Releases releases = {});

/// By how much the newest value lies outside the others, from their median; 0 within, and with
/// fewer than kLeastSeries of them. Outside is beyond all of them by `floor` and by half of their
/// range, or by more of it where they are fewer than 20. The last but one, which may be as odd, is
/// none of them.
double newest_step(std::span<const double> values, double floor);

/// What share of the values counts where each goes with those before it; NaN where a series does
/// not say.
struct Worth {
  /// By the correlations at all lags, the later the less (Newey and West, Econometrica 55 (1987)
  /// 703). Above 1 where neighbors lie apart.
  double lags = 1;
  /// By AR(1), whose long memory few lags see, from distances of neighbors and next neighbors
  /// (Chakar, Lebarbier, Levy-Leduc and Robin, Bernoulli 23 (2017) 1408), which levels hardly move.
  double first = 1;
};

struct Changes {
  std::vector<ChangePoint> points;  // ascending
  /// Changes there were but for this: values go with those before them, as of a drift or a season,
  /// also where each level is taken off, and steps as large follow from that alone.
  bool drifts = false;
  Worth worth = {};
};

/// Of a series without any change but at releases.
Worth worth_of_steady(std::span<const double> values, Releases releases = {});

/// All changes whose p is at most `most_p`; none for fewer than kLeastSeries values. Levels between
/// them are at least kLeastLevel long and `floor` apart, and most of each step lies between the
/// values right beside it. Where what is left without the levels goes with its past, the series is
/// worth as many values fewer. `most_worth`: of series like this one, which say that better than
/// few values do.
Changes change_points(std::span<const double> values, double floor, double most_p,
                      double most_worth = 1, Releases releases = {});

/// The largest p that is told when a series each has one of `p`, so that at most this share of what
/// is told is false (Benjamini and Hochberg, J. R. Statist. Soc. B 57 (1995) 289). A series that is
/// told may have further changes up to it.
double discovery_threshold(const std::vector<double>& p, double rate);

// One metric over its launches: the typical GPU, and each GPU against it.

/// Natural logarithms; NaN where a GPU has no value in a launch.
struct MetricLevels {
  std::vector<std::uint32_t> launches;   // in the order of time: index into Chronicle::launches
  std::vector<std::uint32_t> gpus;       // that have any value: index into Chronicle::gpus
  std::vector<std::vector<double>> own;  // [gpu][launch]: the value itself
  std::vector<double> typical;           // [launch]: what the launch did to the GPUs it had
  std::vector<double> offset;            // [gpu]: from the typical one, for good

  /// What a GPU did that the others did not.
  double apart(std::size_t gpu, std::size_t launch) const {
    return own[gpu][launch] - typical[launch] - offset[gpu];
  }
};

/// Splits values into launch and GPU by median polish (Tukey, Exploratory Data Analysis, 1977):
/// which GPUs a launch happened to have does not move its level, nor does one GPU that became slow.
/// Launches that share no GPU with others have the median over their GPUs.
MetricLevels levels_of(const Chronicle& all, std::span<const PastValues> values);

}  // namespace tidemark
