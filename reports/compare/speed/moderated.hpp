// Effects of a change on many rows measured over a few launches: the shift that all rows of a
// launch share is estimated apart, and each row's variance is drawn towards that of all rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace tidemark {

// Student's t distribution: what a t value means for so many degrees of freedom.

/// Probability that |T| is at least |t|; NaN for NaN or for no degrees of freedom.
double student_two_sided(double t, double degrees);

/// The t that T exceeds with probability `tail`, 0 < tail < 0.5.
double student_upper(double tail, double degrees);

// Effects of a change on many rows measured over a few launches: the shift that all rows of a
// launch share is estimated apart, and each row's variance is drawn towards that of all rows.

/// Logarithms of what was measured, one row a series (or GPU), one column a launch; NaN where there
/// is nothing. The first `base` columns are the launches before the change.
struct LaunchMatrix {
  std::size_t rows = 0, launches = 0, base = 0;
  std::vector<double> values;

  LaunchMatrix(std::size_t all_rows, std::size_t all_launches, std::size_t base_launches);
  double& at(std::size_t row, std::size_t launch) { return values[row * launches + launch]; }
  double at(std::size_t row, std::size_t launch) const { return values[row * launches + launch]; }
  std::span<const double> row(std::size_t number) const {
    return std::span(values).subspan(number * launches, launches);
  }
};

/// New minus base of one row, and how sure that is. Everything is NaN where it cannot be told.
struct Effect {
  std::size_t base = 0, fresh = 0;  // launches that have a value, on either side
  double effect = 0;                // difference of the means, natural logarithm
  double spread = 0;                // standard deviation of a launch after moderation
  double standard_error = 0;        // of the effect
  double degrees = 0;               // of freedom, of the spread
  double p = 0;                     // two-sided, of no effect
  double q = 0;                     // the same after Benjamini-Hochberg over all rows
  double base_spread = 0;           // as spread, of the base alone
  /// One launch of each side at most, far from the others of it.
  std::vector<std::size_t> left_out = {};

  /// Half the width of the 95 % confidence interval.
  double margin() const;

  /// The largest loss that is not excluded with 95 % confidence, one-sided.
  double loss_limit() const;
};

struct Effects {
  std::vector<Effect> rows;   // of each row's own, the shared shift taken off
  bool separated = false;     // there were rows enough to tell a shared shift from rows' own
  std::vector<double> shift;  // by launch; 0 where not separated
  /// By row: a count that hardly differs between launches. It has no part in the shift and in the
  /// weights, nor do they in it.
  std::vector<bool> exact;
  /// By launch: 1, or less where all rows scatter more than in the other launches.
  std::vector<double> weights;
  Effect shared;  // of the shift; q is p

  /// The effect of a row and of what it shares with the others.
  Effect total_of(std::size_t row) const;
};

/// Standard deviation of normal values by their median distance from the median.
inline constexpr double kMadToSd = 1.4826;

/// Spread of a side, natural logarithm, up to which a count is exact. Bank conflicts on an H200
/// differ by 0.006 % from launch to launch, latencies in cycles by more.
inline constexpr double kExactSpread = 2e-4;

/// Rows below which a launch that scatters more than the others cannot be told.
inline constexpr std::size_t kFewestRowsForWeights = 10;

/// Rows below which a shift of all cannot be told from one row's own.
inline constexpr std::size_t kFewestRowsForShift = 4;

/// `counts`: by row of metrics, those that are counts, each of them exact where it hardly differs.
/// Empty: of GPUs, in one metric or in all.
Effects moderated_effects(const LaunchMatrix& matrix, const std::vector<bool>& counts = {});

/// Of one row alone: Student's t of two samples.
Effect plain_effect(std::span<const double> row, std::size_t base);

/// The rows that are not exact without what they share (Effects::shift).
LaunchMatrix without(const LaunchMatrix& matrix, const std::vector<double>& shift,
                     const std::vector<bool>& exact);

/// Degrees of freedom that the variance of fewer than ten rows is worth at most beside a row's own:
/// few agree by chance. Simulated with 100 cases whose noise differs by a log-sd of
/// 0.5: 4 keeps false alarms below 5 % and finds most.
inline constexpr double kPriorDegrees = 4;

/// Benjamini and Hochberg's q values; NaN stays NaN and does not count.
std::vector<double> false_discovery_rates(std::span<const double> p);

/// What the other rows say of the variance of one, and how many degrees of freedom that is worth;
/// NaN where they say nothing.
struct Prior {
  double variance = std::numeric_limits<double>::quiet_NaN(), degrees = kPriorDegrees;
};

/// By row, of those of its kind.
std::vector<Prior> priors_of(const std::vector<Effect>& rows, const std::vector<int>& kind);

/// A value that lies far from the others.
struct FarValue {
  std::size_t at = 0;
  double z = 0;  // its distance from the mean of the others, in their standard deviations
  double p = 1;  // of any value as far
};

/// Rosner's generalized ESD test (Technometrics 25 (1983) 165): up to a third of at least three
/// values, so that several do not hide each other. `alpha`: chance of any where all are of one
/// normal distribution. The variance is drawn towards `prior`, and is `least_spread` squared at
/// least. NaN is no value.
std::vector<FarValue> far_values(std::span<const double> values, const Prior& prior, double alpha,
                                 double least_spread);

}  // namespace tidemark
