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
  /// By row: it hardly differs between launches, as counts of cycles do (RowFacts::metrics): it has
  /// no part in the shift and in the weights, nor do they in it.
  std::vector<bool> exact;
  /// By launch: 1, or less where all rows scatter more than in the other launches.
  std::vector<double> weights;
  Effect shared;  // of the shift; q is p

  /// The effect of a row and of what it shares with the others.
  Effect total_of(std::size_t row) const;
};

/// Spread of a side, natural logarithm, up to which a row is exact. Bank conflicts on an H200
/// differ by 0.006 % from launch to launch, rates by 0.1 % at least.
inline constexpr double kExactSpread = 2e-4;

/// Rows below which a launch that scatters more than the others cannot be told.
inline constexpr std::size_t kFewestRowsForWeights = 10;

/// Rows below which a shift of all cannot be told from one row's own.
inline constexpr std::size_t kFewestRowsForShift = 4;

/// What moderated_effects may know of its rows beside their values; each by row, or empty.
struct RowFacts {
  /// Rows of one kind, of one unit say, scatter alike: their variances are drawn towards each
  /// other.
  std::vector<std::uint32_t> kind = {};
  /// Rows of different metrics: those that are exact are apart. Of GPUs in one metric none is.
  bool metrics = false;
};

Effects moderated_effects(const LaunchMatrix& matrix, const RowFacts& facts = {});

/// Tests effects of one launch a side, of rows of several matrices, by how far they all lie from
/// each other; leaves them untested where there are fewer than kFewestRowsForWeights. `q` is p.
void test_single_launches(const std::vector<Effect*>& rows);

/// The rows that are not exact without what they share (Effects::shift).
LaunchMatrix without(const LaunchMatrix& matrix, const std::vector<double>& shift,
                     const std::vector<bool>& exact);

/// Degrees of freedom that the variance of fewer than ten rows is worth at most beside a row's own:
/// few agree by chance. Simulated with 100 cases whose noise differs by a log-sd of
/// 0.5: 4 keeps false alarms below 5 % and finds most.
inline constexpr double kPriorDegrees = 4;

/// Benjamini and Hochberg's q values; NaN stays NaN and does not count. Where only the least of
/// many p were worked out, `tests` says how many there are: q values below the least p left out
/// hold.
std::vector<double> false_discovery_rates(std::span<const double> p, std::size_t tests = 0);

/// What the other rows say of the variance of one, and how many degrees of freedom that is worth;
/// NaN where they say nothing.
struct Prior {
  double variance = std::numeric_limits<double>::quiet_NaN(), degrees = kPriorDegrees;
};

/// Of rows with one launch a side, which say nothing of their own noise: by how far their effects
/// lie from each other. NaN of fewer than kFewestRowsForWeights. `many_change`: up to a fifth may
/// have changed, as all metrics of one GPU of five; else a tenth.
Prior scatter_of(const std::vector<const Effect*>& rows, bool many_change);

/// By row: that of its kind (RowFacts::kind; empty: one kind), or of all rows where its kind has
/// too few. `rows` with the spreads of their own; exact rows and the others say nothing of each
/// other.
std::vector<Prior> priors_of(const std::vector<Effect>& rows, const std::vector<bool>& exact,
                             const std::vector<std::uint32_t>& kind);

}  // namespace tidemark
