// The moderated t test after a shared shift has been taken off.
#include "reports/compare/moderated.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

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

/// What the other rows say of the variance of one, and how many degrees of freedom that is worth.
struct Prior {
  double variance = kNothing, degrees = kPriorDegrees;
};

/// The asymptotic series, after recurrence to an argument of at least 6.
double digamma(double x) {
  double made = 0;
  for (; x < 6; ++x) made -= 1 / x;
  const double square = 1 / (x * x);
  return made + std::log(x) - 0.5 / x - square * (1.0 / 12 - square * (1.0 / 120 - square / 252));
}
double trigamma(double x) {
  double made = 0;
  for (; x < 6; ++x) made += 1 / (x * x);
  const double square = 1 / (x * x);
  return made + 1 / x + square / 2 + square / x * (1.0 / 6 - square * (1.0 / 30 - square / 42));
}

/// The x at which trigamma, which falls, is `value`.
double trigamma_inverse(double value) {
  double low = 1e-3, high = 1e3;
  constexpr int kHalvings = 60;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = std::sqrt(low * high);
    (trigamma(middle) > value ? low : high) = middle;
  }
  return std::sqrt(low * high);
}

/// Smyth (2004), 6.2: a scaled F distribution is fitted to the variances by the mean and variance
/// of their logarithms, so that rows that scatter very unlike each other are worth little to each
/// other.
Prior fitted(const std::vector<const Effect*>& rows) {
  double sum = 0, squares = 0, expected = 0;
  for (const Effect* row : rows) {
    const double half = row->degrees / 2;
    const double z = 2 * std::log(row->spread) - digamma(half) + std::log(half);
    sum += z;
    squares += z * z;
    expected += trigamma(half);
  }
  const auto n = static_cast<double>(rows.size());
  const double mean = sum / n;
  const double excess = (squares - n * mean * mean) / (n - 1) - expected / n;
  constexpr double kMost = 100;  // degrees beyond which nothing changes
  const double degrees = excess > 0 ? std::min(kMost, 2 * trigamma_inverse(excess)) : kMost;
  const double half = degrees / 2;
  return {.variance = std::exp(mean + digamma(half) - std::log(half)), .degrees = degrees};
}

/// The variance that most rows have. The median of a chi-square variable lies below its mean
/// (Wilson and Hilferty), the more the fewer its degrees.
Prior middle_of(const std::vector<const Effect*>& rows) {
  std::vector<double> variances;
  for (const Effect* row : rows) {
    const double below = std::pow(1 - 2 / (9 * row->degrees), 3);
    variances.push_back(row->spread * row->spread / below);
  }
  if (variances.size() < kFewestRowsForShift) return {};
  return {.variance = median_of(std::move(variances))};
}

/// What a t of so many degrees of freedom exceeds, either way, every other time and once in ten.
struct Tails {
  double degrees = 0, half = 0, tenth = 0;
};

/// From few degrees of freedom to many: long tails to short ones.
const std::vector<Tails>& tails_by_degrees() {
  static const std::vector<Tails> all = [] {
    constexpr double kQuarter = 0.25, kTwentieth = 0.05;
    std::vector<Tails> made;
    for (double degrees = 0.5; degrees < 10; degrees *= 1.1) {  // more would be believed of no tail
      made.push_back(
          {degrees, student_upper(kQuarter, degrees), student_upper(kTwentieth, degrees)});
    }
    return made;
  }();
  return all;
}

/// One launch a side says nothing of its own noise. Most rows do not change, so that how far their
/// effects lie from each other says how far one does by chance.
Prior scatter_of(const std::vector<const Effect*>& rows) {
  std::vector<double> effects;
  for (const Effect* row : rows) {
    if (row->base == 1 && row->fresh == 1) effects.push_back(row->effect);
  }
  if (effects.size() < kFewestRowsForWeights) return {};
  const double middle = median_of(effects);
  for (double& effect : effects) effect = std::abs(effect - middle);
  std::sort(effects.begin(), effects.end());
  const double half = effects[effects.size() / 2], most = effects[effects.size() * 9 / 10];
  // The t whose quantiles lie as far apart: rows that scatter unlike each other have long tails.
  const std::vector<Tails>& tails = tails_by_degrees();
  auto like = tails.end() - 1;
  while (like != tails.begin() && like->tenth / like->half * half < most) --like;
  const double spread = half / like->half;
  // An effect is the difference of two launches.
  return {.variance = spread * spread / 2, .degrees = like->degrees};
}

Prior prior_of(const std::vector<const Effect*>& rows) {
  constexpr std::size_t kFewestRowsForFit = 10;
  std::vector<const Effect*> known;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(known),
               [](const Effect* row) { return row->degrees > 0 && row->spread > 0; });
  if (known.empty()) return scatter_of(rows);
  return known.size() < kFewestRowsForFit ? middle_of(known) : fitted(known);
}

/// By row: that of its kind, or of all rows where its kind has too few.
std::vector<Prior> priors_of(const std::vector<Effect>& rows, const std::vector<bool>& exact,
                             const std::vector<std::uint32_t>& kind) {
  std::map<std::pair<bool, std::uint32_t>, std::vector<const Effect*>> alike;
  std::map<bool, std::vector<const Effect*>> all;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    alike[{exact[row], kind.empty() ? 0 : kind[row]}].push_back(&rows[row]);
    all[exact[row]].push_back(&rows[row]);
  }
  std::map<std::pair<bool, std::uint32_t>, Prior> of_kind;
  std::map<bool, Prior> of_all;
  for (const auto& [key, members] : alike) of_kind[key] = prior_of(members);
  for (const auto& [key, members] : all) of_all[key] = prior_of(members);
  std::vector<Prior> made;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const Prior& own = of_kind.at({exact[row], kind.empty() ? 0 : kind[row]});
    // A row that has no noise of its own gets none of another kind: cycles say nothing of rates.
    const bool has_own = rows[row].degrees > 0;
    made.push_back(std::isnan(own.variance) && has_own ? of_all.at(exact[row]) : own);
  }
  return made;
}

void moderate(Effect& row, const Prior& prior) {
  if (std::isnan(prior.variance) || row.base == 0 || row.fresh == 0) return;
  const double own = row.degrees > 0 ? row.spread * row.spread * row.degrees : 0;
  const double degrees = row.degrees + prior.degrees;
  row.spread = std::sqrt((prior.degrees * prior.variance + own) / degrees);
  row.degrees = degrees;
}

std::span<const double> row_of(const LaunchMatrix& matrix, std::size_t row) {
  return std::span(matrix.values).subspan(row * matrix.launches, matrix.launches);
}

/// Rows that hardly differ within either side, and have at least two values there.
std::vector<bool> exact_rows(const LaunchMatrix& matrix) {
  const std::vector<double> even(matrix.launches, 1.0);
  std::vector<bool> made;
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    const Effect effect = raw_effect(row_of(matrix, row), even, matrix.base);
    const Moments all = moments_of(row_of(matrix, row), even);
    const bool one_side = effect.base == 0 || effect.fresh == 0;
    const double spread = one_side && all.n > 1
                              ? std::sqrt(all.squares / (static_cast<double>(all.n) - 1))
                              : effect.spread;
    made.push_back(spread <= kExactSpread);
  }
  return made;
}

/// Median over the rows that are not exact of how far each launch lies from the row's own mean.
std::vector<double> shared_shift(const LaunchMatrix& matrix, const std::vector<bool>& exact) {
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
      if (!exact[row] && !std::isnan(value)) distances.push_back(value - means[row]);
    }
    shift[launch] = median_of(std::move(distances));
  }
  return shift;
}

/// How far each launch lies from the median of its side, in units of how far the row's launches do
/// so: a row that scatters little says as much of a launch as one that scatters a lot. NaN where a
/// side has fewer than three values, of which both lie equally far.
std::vector<double> own_distances(std::span<const double> row, std::size_t base) {
  std::vector<double> made(row.size(), kNothing), known;
  for (const bool fresh : {false, true}) {
    const std::size_t first = fresh ? base : 0, end = fresh ? row.size() : base;
    std::vector<double> side;
    std::copy_if(row.begin() + static_cast<std::ptrdiff_t>(first),
                 row.begin() + static_cast<std::ptrdiff_t>(end), std::back_inserter(side),
                 [](double value) { return !std::isnan(value); });
    if (side.size() < 3) continue;
    const double middle = median_of(std::move(side));
    for (std::size_t i = first; i < end; ++i) {
      if (std::isnan(row[i])) continue;
      made[i] = std::abs(row[i] - middle);
      known.push_back(made[i]);
    }
  }
  const double scale = median_of(std::move(known));
  for (double& distance : made) distance = scale > 0 ? distance / scale : kNothing;
  return made;
}

/// A launch in which all rows scatter five times as far is worth a 25th of the others.
std::vector<double> weights_of(const LaunchMatrix& own, const std::vector<bool>& exact) {
  std::vector<double> weights(own.launches, 1.0);
  if (std::count(exact.begin(), exact.end(), false) <
      static_cast<std::ptrdiff_t>(kFewestRowsForWeights)) {
    return weights;
  }
  std::vector<std::vector<double>> distances(own.launches);
  for (std::size_t row = 0; row < own.rows; ++row) {
    if (exact[row]) continue;
    const std::vector<double> of_row = own_distances(row_of(own, row), own.base);
    for (std::size_t launch = 0; launch < own.launches; ++launch) {
      if (!std::isnan(of_row[launch])) distances[launch].push_back(of_row[launch]);
    }
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

/// The rows that are not exact without what they share.
LaunchMatrix without(const LaunchMatrix& matrix, const std::vector<double>& shift,
                     const std::vector<bool>& exact) {
  LaunchMatrix own = matrix;
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    for (std::size_t launch = 0; launch < matrix.launches && !exact[row]; ++launch) {
      own.at(row, launch) -= shift[launch];
    }
  }
  return own;
}

bool can_separate(const std::vector<bool>& exact) {
  return std::count(exact.begin(), exact.end(), false) >=
         static_cast<std::ptrdiff_t>(kFewestRowsForShift);
}

/// The values of a side but the farthest from its median.
std::vector<double> without_farthest(std::span<const double> side) {
  std::vector<double> made;
  std::copy_if(side.begin(), side.end(), std::back_inserter(made),
               [](double value) { return !std::isnan(value); });
  const double middle = median_of(made);
  const auto farthest = std::max_element(made.begin(), made.end(), [middle](double a, double b) {
    return std::abs(a - middle) < std::abs(b - middle);
  });
  made.erase(farthest);
  return made;
}

/// A second look at a row whose sides lie wholly apart: one launch far off on the side of the
/// change makes the variance so large that the t test sees nothing. Only where every launch after
/// the change lies beyond every one before it, which chance does to one row in 126 (5 against 5).
Effect second_look(std::span<const double> row, std::size_t base, const Effect& first,
                   const Prior& prior) {
  constexpr std::size_t kFewest = 5;
  if (first.base < kFewest || first.fresh < kFewest) return first;
  const auto less = [](double a, double b) { return a < b; };
  const auto known = [&](std::span<const double> side) {
    std::vector<double> made;
    std::copy_if(side.begin(), side.end(), std::back_inserter(made),
                 [](double value) { return !std::isnan(value); });
    return made;
  };
  const std::vector<double> before = known(row.first(base)), after = known(row.subspan(base));
  const auto [low, high] = std::minmax_element(before.begin(), before.end(), less);
  const auto [least, most] = std::minmax_element(after.begin(), after.end(), less);
  if (*least <= *high && *most >= *low) return first;
  const std::vector<double> rest_before = without_farthest(before);
  const std::vector<double> rest_after = without_farthest(after);
  std::vector<double> rest = rest_before;
  rest.insert(rest.end(), rest_after.begin(), rest_after.end());
  const std::vector<double> even(rest.size(), 1.0);
  Effect made = raw_effect(rest, even, rest_before.size());
  // What is left of five without the farthest has some half of their variance.
  constexpr double kLeft = 2;
  made.spread *= std::sqrt(kLeft);
  moderate(made, prior);
  finish(made);
  made.p = made.q = 2 * made.p;  // two tests, of which the better one counts
  made.base = first.base;
  made.fresh = first.fresh;
  made.without_farthest = true;
  return made.p < first.p ? made : first;
}

std::vector<double> shift_of(const LaunchMatrix& matrix, const std::vector<bool>& exact) {
  return can_separate(exact) ? shared_shift(matrix, exact)
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

Effect Effects::total_of(std::size_t row) const {
  Effect made = rows[row];
  if (exact[row] || !separated) return made;
  made.effect += shared.effect;
  made.standard_error = std::hypot(made.standard_error, shared.standard_error);
  made.degrees = std::min(made.degrees, shared.degrees);
  return made;
}

Effects moderated_effects(const LaunchMatrix& matrix, const RowFacts& facts) {
  Effects made;
  made.exact = facts.metrics ? exact_rows(matrix) : std::vector<bool>(matrix.rows, false);
  made.separated = can_separate(made.exact);
  made.shift = shift_of(matrix, made.exact);
  const LaunchMatrix own = without(matrix, made.shift, made.exact);
  made.weights = weights_of(own, made.exact);
  made.shared = raw_effect(made.shift, made.weights, matrix.base);
  finish(made.shared);
  const std::vector<double> even(matrix.launches, 1.0);
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    made.rows.push_back(
        raw_effect(row_of(own, row), made.exact[row] ? even : made.weights, matrix.base));
  }
  const std::vector<Prior> priors = priors_of(made.rows, made.exact, facts.kind);
  std::vector<double> p;
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    const double known = facts.known_spread.empty() ? kNothing : facts.known_spread[row];
    const Prior prior = std::isnan(known) ? priors[row] : Prior{.variance = known * known};
    moderate(made.rows[row], prior);
    finish(made.rows[row]);
    if (!made.exact[row]) {
      made.rows[row] = second_look(row_of(own, row), matrix.base, made.rows[row], prior);
    }
    p.push_back(made.rows[row].p);
  }
  const std::vector<double> q = false_discovery_rates(p);
  for (std::size_t row = 0; row < matrix.rows; ++row) made.rows[row].q = q[row];
  return made;
}

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
  if (degrees < kFewest || !(xx > 0) || !(yy > 0)) return kNothing;
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

Drift drift_in(const LaunchMatrix& matrix, std::span<const double> at,
               std::span<const double> weights) {
  constexpr double kSlope = 0.05, kLeast = 1e-6;  // one row alone does not say that all drift
  Drift made;
  double sum = 0;
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    const double p = slope_p(row_of(matrix, row), matrix.base, at, weights);
    if (std::isnan(p)) continue;
    ++made.tested;
    made.rows += p < kSlope ? 1U : 0U;
    sum -= 2 * std::log(std::max(p, kLeast));
  }
  if (made.tested > 0) made.p = chi_square_tail(sum, 2 * static_cast<double>(made.tested));
  return made;
}

std::vector<double> spreads_of_launches(const LaunchMatrix& matrix) {
  const std::vector<bool> exact = exact_rows(matrix);
  const LaunchMatrix own = without(matrix, shift_of(matrix, exact), exact);
  const std::vector<double> weights = weights_of(own, exact);
  const std::vector<double> even(matrix.launches, 1.0);
  std::vector<double> spreads;
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    const Moments moments = moments_of(row_of(own, row), exact[row] ? even : weights);
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
