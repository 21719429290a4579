// Slopes within the sides, and Fisher's test of all of them together.
#include "reports/compare/drift.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "reports/compare/student_t.hpp"

namespace tidemark::reports {
namespace {

/// Two-sided p of no common slope within the sides; NaN with fewer than six launches.
double slope_p(std::span<const double> row, std::size_t base, std::span<const double> at,
               std::span<const double> weights) {
  double xx = 0, xy = 0, yy = 0, degrees = -1;
  for (const bool fresh : {false, true}) {
    const std::size_t first = fresh ? base : 0, end = fresh ? row.size() : base;
    double n = 0, weight = 0, x = 0, y = 0;
    for (std::size_t i = first; i < end; ++i) {
      if (std::isnan(row[i])) continue;
      ++n;
      weight += weights[i];
      x += weights[i] * at[i];
      y += weights[i] * row[i];
    }
    if (n < 2) continue;
    degrees += n - 1;
    for (std::size_t i = first; i < end; ++i) {
      if (std::isnan(row[i])) continue;
      const double dx = at[i] - x / weight, dy = row[i] - y / weight;
      xx += weights[i] * dx * dx;
      xy += weights[i] * dx * dy;
      yy += weights[i] * dy * dy;
    }
  }
  constexpr double kFewest = 3;
  if (degrees < kFewest || !(xx > 0) || !(yy > 0)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const double rest = std::max(0.0, yy - xy * xy / xx);
  const double error = std::sqrt(rest / degrees / xx);
  return error > 0 ? student_two_sided(xy / xx / error, degrees) : 0;
}

/// Probability that a chi-square variable exceeds `value`, by Wilson and Hilferty's cube root.
double chi_square_tail(double value, double degrees) {
  const double spread = 2 / (9 * degrees);
  const double z = (std::cbrt(value / degrees) - (1 - spread)) / std::sqrt(spread);
  return std::erfc(z / std::sqrt(2.0)) / 2;
}

}  // namespace

Drift drift_in(const LaunchMatrix& matrix, const Effects& effects, std::span<const double> at) {
  constexpr double kSlope = 0.05, kLeast = 1e-6;  // one row alone does not say that all drift
  const LaunchMatrix own = without(matrix, effects.shift, effects.exact);
  Drift made;
  double sum = 0;
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    if (effects.exact[row]) continue;
    const double p = slope_p(own.row(row), own.base, at, effects.weights);
    if (std::isnan(p)) continue;
    ++made.tested;
    made.rows += p < kSlope ? 1U : 0U;
    sum -= 2 * std::log(std::max(p, kLeast));
  }
  if (made.tested > 0) made.p = chi_square_tail(sum, 2 * static_cast<double>(made.tested));
  return made;
}

}  // namespace tidemark::reports
