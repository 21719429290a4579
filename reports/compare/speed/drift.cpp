// Slopes within the sides, where one ran after the other.
#include "reports/compare/speed/speed.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "reports/compare/speed/moderated.hpp"

namespace tidemark {
namespace {

/// A common slope within the sides, in units of its error; NaN with fewer than six launches.
struct Slope {
  double t = std::numeric_limits<double>::quiet_NaN(), degrees = -1;

  double p() const { return student_two_sided(t, degrees); }
};

Slope slope_of(std::span<const double> row, std::size_t base, std::span<const double> at,
               std::span<const double> weights) {
  Slope made;
  double xx = 0, xy = 0, yy = 0;
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
    made.degrees += n - 1;
    for (std::size_t i = first; i < end; ++i) {
      if (std::isnan(row[i])) continue;
      const double dx = at[i] - x / weight, dy = row[i] - y / weight;
      xx += weights[i] * dx * dx;
      xy += weights[i] * dx * dy;
      yy += weights[i] * dy * dy;
    }
  }
  constexpr double kFewest = 3;
  if (made.degrees < kFewest || !(xx > 0) || !(yy > 0)) return made;
  const double rest = std::max(0.0, yy - xy * xy / xx);
  made.t = xy / xx / std::sqrt(rest / made.degrees / xx);
  return made;
}

/// How far all rows of each launch lie towards the change.
std::vector<double> towards_change(const LaunchMatrix& own, const Effects& effects) {
  std::vector<double> made(own.launches);
  for (std::size_t row = 0; row < own.rows; ++row) {
    const Effect& effect = effects.rows[row];
    const bool whole = effect.base + effect.fresh == own.launches;
    if (effects.exact[row] || !whole || !(effect.standard_error > 0)) continue;
    const double to = effect.effect < 0 ? -1 : 1;
    for (std::size_t i = 0; i < own.launches; ++i) made[i] += to / effect.spread * own.at(row, i);
  }
  return made;
}

}  // namespace

Drift drift_in(const LaunchMatrix& matrix, const Effects& effects, std::span<const double> at,
               int order) {
  const LaunchMatrix own = without(matrix, effects.shift, effects.exact);
  Drift made;
  const Slope slope = slope_of(towards_change(own, effects), own.base, at, effects.weights);
  if (slope.t * order > 0) made.p_of_change = slope.p() / 2;
  const Slope shared = slope_of(effects.shift, own.base, at, effects.weights);
  if (effects.separated && shared.t * effects.shared.effect * order > 0)
    made.p_of_shared = shared.p() / 2;
  return made;
}

}  // namespace tidemark
