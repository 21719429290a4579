// The moderated t test after a shared shift has been taken off.
#include "reports/compare/moderated.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

#include "reports/compare/student_t.hpp"
#include "reports/median.hpp"

namespace tidemark::reports {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

/// Weighted mean and sum of squared distances of the finite values of a part of a row.
struct Moments {
  std::size_t n = 0;
  double weight = 0, mean = 0, squares = 0;
};

Moments moments_of(std::span<const double> values, std::span<const double> weights) {
  Moments made;
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) continue;
    ++made.n;
    made.weight += weights[i];
    sum += weights[i] * values[i];
  }
  made.mean = made.n == 0 ? kNothing : sum / made.weight;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) continue;
    made.squares += weights[i] * (values[i] - made.mean) * (values[i] - made.mean);
  }
  return made;
}

/// Effect and variance of one row; no test yet.
Effect raw_effect(std::span<const double> row, std::span<const double> weights, std::size_t base) {
  const Moments before = moments_of(row.first(base), weights.first(base));
  const Moments after = moments_of(row.subspan(base), weights.subspan(base));
  Effect made{.base = before.n, .fresh = after.n};
  made.effect = after.mean - before.mean;
  made.standard_error = std::sqrt(1 / before.weight + 1 / after.weight);  // for a spread of 1
  made.degrees = before.n > 0 && after.n > 0 ? static_cast<double>(before.n + after.n) - 2 : 0;
  const double squares = before.squares + after.squares;
  made.spread = made.degrees > 0 ? std::sqrt(squares / made.degrees) : kNothing;
  return made;
}

void finish(Effect& effect) {
  if (effect.base == 0 || effect.fresh == 0 || !(effect.degrees > 0)) {
    effect.spread = effect.standard_error = effect.p = effect.q = kNothing;
    return;
  }
  effect.standard_error *= effect.spread;
  // Values that never differ have no spread: any effect of them is certain.
  const double t = effect.standard_error > 0 ? effect.effect / effect.standard_error
                   : effect.effect == 0      ? 0
                                             : std::numeric_limits<double>::infinity();
  effect.p = effect.q = std::isinf(t) ? 0 : student_two_sided(t, effect.degrees);
}

/// The variance that most rows have. The median of a chi-square variable lies below its mean
/// (Wilson and Hilferty), the more the fewer its degrees.
double common_variance(const std::vector<Effect>& rows) {
  std::vector<double> variances;
  for (const Effect& row : rows) {
    if (!(row.degrees > 0)) continue;
    const double below = std::pow(1 - 2 / (9 * row.degrees), 3);
    variances.push_back(row.spread * row.spread / below);
  }
  return variances.size() < kFewestRowsForShift ? kNothing : median_of(std::move(variances));
}

void moderate(Effect& row, double prior_variance) {
  if (std::isnan(prior_variance) || row.base == 0 || row.fresh == 0) return;
  const double own = row.degrees > 0 ? row.spread * row.spread * row.degrees : 0;
  const double degrees = row.degrees + kPriorDegrees;
  row.spread = std::sqrt((kPriorDegrees * prior_variance + own) / degrees);
  row.degrees = degrees;
}

std::span<const double> row_of(const LaunchMatrix& matrix, std::size_t row) {
  return std::span(matrix.values).subspan(row * matrix.launches, matrix.launches);
}

/// Median over the rows of how far each launch lies from the row's own mean.
std::vector<double> shared_shift(const LaunchMatrix& matrix) {
  const std::vector<double> even(matrix.launches, 1.0);
  std::vector<double> means(matrix.rows);
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    means[row] = moments_of(row_of(matrix, row), even).mean;
  }
  std::vector<double> shift(matrix.launches);
  for (std::size_t launch = 0; launch < matrix.launches; ++launch) {
    std::vector<double> distances;
    for (std::size_t row = 0; row < matrix.rows; ++row) {
      const double value = matrix.at(row, launch);
      if (!std::isnan(value)) distances.push_back(value - means[row]);
    }
    shift[launch] = median_of(std::move(distances));
  }
  return shift;
}

/// Adds how far each launch of one side lies from the median of its row, by launch.
void add_distances(std::span<const double> side, std::size_t first,
                   std::vector<std::vector<double>>& distances) {
  std::vector<double> known;
  std::copy_if(side.begin(), side.end(), std::back_inserter(known),
               [](double value) { return !std::isnan(value); });
  if (known.size() < 3) return;  // of two, both lie equally far
  const double middle = median_of(std::move(known));
  for (std::size_t i = 0; i < side.size(); ++i) {
    if (!std::isnan(side[i])) distances[first + i].push_back(std::abs(side[i] - middle));
  }
}

/// A launch in which all rows scatter five times as far is worth a 25th of the others.
std::vector<double> weights_of(const LaunchMatrix& own) {
  std::vector<double> weights(own.launches, 1.0);
  if (own.rows < kFewestRowsForWeights) return weights;
  std::vector<std::vector<double>> distances(own.launches);
  for (std::size_t row = 0; row < own.rows; ++row) {
    add_distances(row_of(own, row).first(own.base), 0, distances);
    add_distances(row_of(own, row).subspan(own.base), own.base, distances);
  }
  std::vector<double> scatter(own.launches), known;
  for (std::size_t launch = 0; launch < own.launches; ++launch) {
    scatter[launch] = median_of(std::move(distances[launch]));
    if (!std::isnan(scatter[launch])) known.push_back(scatter[launch]);
  }
  const double typical = median_of(std::move(known));
  constexpr double kOdd = 2;  // less is what medians over ten rows differ by
  for (std::size_t launch = 0; launch < own.launches; ++launch) {
    const double ratio = scatter[launch] / typical;
    if (typical > 0 && ratio > kOdd) weights[launch] = 1 / (ratio * ratio);
  }
  return weights;
}

/// The rows without what all of them share.
LaunchMatrix without(const LaunchMatrix& matrix, const std::vector<double>& shift) {
  LaunchMatrix own = matrix;
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    for (std::size_t launch = 0; launch < matrix.launches; ++launch) {
      own.at(row, launch) -= shift[launch];
    }
  }
  return own;
}

std::vector<double> shift_of(const LaunchMatrix& matrix) {
  return matrix.rows >= kFewestRowsForShift ? shared_shift(matrix)
                                            : std::vector<double>(matrix.launches, 0.0);
}

}  // namespace

LaunchMatrix::LaunchMatrix(std::size_t all_rows, std::size_t all_launches,
                           std::size_t base_launches)
    : rows(all_rows),
      launches(all_launches),
      base(base_launches),
      values(all_rows * all_launches, kNothing) {}

double Effect::margin() const {
  if (std::isnan(standard_error)) return kNothing;
  constexpr double kTail = 0.025;
  return student_upper(kTail, degrees) * standard_error;
}

Effects moderated_effects(const LaunchMatrix& matrix, std::span<const double> known_spread) {
  Effects made;
  made.separated = matrix.rows >= kFewestRowsForShift;
  made.shift = shift_of(matrix);
  const LaunchMatrix own = without(matrix, made.shift);
  made.weights = weights_of(own);
  made.shared = raw_effect(made.shift, made.weights, matrix.base);
  finish(made.shared);
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    made.rows.push_back(raw_effect(row_of(own, row), made.weights, matrix.base));
  }
  const double common = common_variance(made.rows);
  std::vector<double> p;
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    const double known = known_spread.empty() ? kNothing : known_spread[row];
    moderate(made.rows[row], std::isnan(known) ? common : known * known);
    finish(made.rows[row]);
    p.push_back(made.rows[row].p);
  }
  const std::vector<double> q = false_discovery_rates(p);
  for (std::size_t row = 0; row < matrix.rows; ++row) made.rows[row].q = q[row];
  return made;
}

std::vector<double> spreads_of_launches(const LaunchMatrix& matrix) {
  const LaunchMatrix own = without(matrix, shift_of(matrix));
  const std::vector<double> weights = weights_of(own);
  std::vector<double> spreads;
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    const Moments moments = moments_of(row_of(own, row), weights);
    const double degrees = static_cast<double>(moments.n) - 1;
    spreads.push_back(degrees > 0 ? std::sqrt(moments.squares / degrees) : kNothing);
  }
  return spreads;
}

std::vector<double> false_discovery_rates(std::span<const double> p, std::size_t tests) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (!std::isnan(p[i])) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return p[a] < p[b]; });
  std::vector<double> q(p.size(), kNothing);
  double least = 1;
  const auto all = static_cast<double>(std::max(tests, order.size()));
  for (std::size_t rank = order.size(); rank > 0; --rank) {
    const std::size_t i = order[rank - 1];
    least = std::min(least, p[i] * all / static_cast<double>(rank));
    q[i] = least;
  }
  return q;
}

}  // namespace tidemark::reports
