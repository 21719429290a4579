// The moderated t test after a shared shift has been taken off.
#include "reports/compare/speed/moderated.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "reports/base/statistics.hpp"

namespace tidemark {

// The tail of Student's t by the continued fraction of the incomplete beta function.

namespace {

/// Where a denominator of the fraction would vanish (Lentz's method).
double away_from_zero(double value) {
  constexpr double kTiny = 1e-300;
  return std::abs(value) < kTiny ? kTiny : value;
}

/// The continued fraction of I_x(a, b), Abramowitz and Stegun 26.5.8; converges for x < (a + 1) /
/// (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr int kMostTerms = 500;
  double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), value = d;
  for (int m = 1; m <= kMostTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    value *= c * d;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    value *= c * d;
    if (std::abs(c * d - 1) < std::numeric_limits<double>::epsilon()) break;
  }
  return value;
}

/// The regularised incomplete beta function I_x(a, b).
double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

}  // namespace

double student_two_sided(double t, double degrees) {
  if (std::isnan(t) || !(degrees > 0)) return std::numeric_limits<double>::quiet_NaN();
  return incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t));
}

double student_upper(double tail, double degrees) {
  if (!(degrees > 0)) return std::numeric_limits<double>::quiet_NaN();
  // Most metrics ask the same: the halvings below were three quarters of a comparison.
  static thread_local std::map<std::pair<double, double>, double> known;
  const auto [at, is_new] = known.try_emplace({tail, degrees});
  if (!is_new) return at->second;
  double low = 0, high = 1;
  while (student_two_sided(high, degrees) > 2 * tail) high *= 2;
  constexpr int kHalvings = 60;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (student_two_sided(middle, degrees) > 2 * tail ? low : high) = middle;
  }
  return at->second = (low + high) / 2;
}

namespace {

/// Of launches `first` to `end`; NaN is no launch of this row.
Statistics side_of(std::span<const double> row, std::size_t first, std::size_t end) {
  const std::span<const double> side = row.subspan(first, end - first);
  return statistics_of({side.begin(), side.end()});
}

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
  made.mean = made.n == 0 ? kNoNumber : sum / made.weight;
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
  made.spread = made.degrees > 0 ? std::sqrt(squares / made.degrees) : kNoNumber;
  const double base_degrees = static_cast<double>(before.n) - 1;
  made.base_spread = before.n > 1 ? std::sqrt(before.squares / base_degrees) : kNoNumber;
  return made;
}

void finish(Effect& effect) {
  if (effect.base == 0 || effect.fresh == 0 || !(effect.degrees > 0)) {
    effect.spread = effect.standard_error = effect.p = effect.q = kNoNumber;
    return;
  }
  effect.standard_error *= effect.spread;
  // Values that never differ have no spread: any effect of them is certain.
  const double t = effect.standard_error > 0 ? effect.effect / effect.standard_error
                   : effect.effect == 0      ? 0
                                             : std::numeric_limits<double>::infinity();
  effect.p = effect.q = student_two_sided(t, effect.degrees);
}

void moderate(Effect& row, const Prior& prior) {
  if (std::isnan(prior.variance) || row.base == 0 || row.fresh == 0) return;
  const double own = row.degrees > 0 ? row.spread * row.spread * row.degrees : 0;
  const double degrees = row.degrees + prior.degrees;
  row.spread = std::sqrt((prior.degrees * prior.variance + own) / degrees);
  row.degrees = degrees;
  const double of_base = static_cast<double>(row.base) - 1;
  const double squares = of_base > 0 ? of_base * row.base_spread * row.base_spread : 0;
  row.base_spread =
      std::sqrt((prior.degrees * prior.variance + squares) / (prior.degrees + of_base));
}

/// Counts that hardly differ within either side, and have at least two values there.
std::vector<bool> exact_rows(const LaunchMatrix& matrix, std::vector<bool> made) {
  const std::vector<double> even(matrix.launches, 1.0);
  made.resize(matrix.rows, false);
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    if (!made[row]) continue;
    const Effect effect = raw_effect(matrix.row(row), even, matrix.base);
    const Moments all = moments_of(matrix.row(row), even);
    const bool one_side = effect.base == 0 || effect.fresh == 0;
    const double spread = one_side && all.n > 1
                              ? std::sqrt(all.squares / (static_cast<double>(all.n) - 1))
                              : effect.spread;
    made[row] = spread <= kExactSpread;
  }
  return made;
}

/// Median over the rows that are not exact of how far each launch lies from the row's own mean.
std::vector<double> shared_shift(const LaunchMatrix& matrix, const std::vector<bool>& exact) {
  const std::vector<double> even(matrix.launches, 1.0);
  std::vector<double> means(matrix.rows);
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    means[row] = moments_of(matrix.row(row), even).mean;
  }
  std::vector<double> shift(matrix.launches);
  for (std::size_t launch = 0; launch < matrix.launches; ++launch) {
    std::vector<double> distances;
    for (std::size_t row = 0; row < matrix.rows; ++row) {
      const double value = matrix.at(row, launch);
      if (!exact[row]) distances.push_back(value - means[row]);
    }
    shift[launch] = statistics_of(std::move(distances)).median;
  }
  return shift;
}

/// How far each launch lies from the median of its side, in units of how far the row's launches do
/// so: a row that scatters little says as much of a launch as one that scatters a lot. NaN where a
/// side has fewer than three values.
std::vector<double> own_distances(std::span<const double> row, std::size_t base) {
  std::vector<double> made(row.size(), kNoNumber);
  for (const bool fresh : {false, true}) {
    const std::size_t first = fresh ? base : 0, end = fresh ? row.size() : base;
    const Statistics side = side_of(row, first, end);
    if (side.finite < 3) continue;
    for (std::size_t i = first; i < end; ++i) made[i] = std::abs(row[i] - side.median);
  }
  const double scale = side_of(made, 0, made.size()).median;
  for (double& distance : made) distance = scale > 0 ? distance / scale : kNoNumber;
  return made;
}

/// A launch in which all rows scatter five times as far is worth a 25th of the others.
std::vector<double> weights_of(const LaunchMatrix& own, const std::vector<bool>& exact) {
  std::vector<double> weights(own.launches, 1.0);
  if (std::ranges::count(exact, false) < static_cast<std::ptrdiff_t>(kFewestRowsForWeights)) {
    return weights;
  }
  std::vector<std::vector<double>> distances(own.launches);
  for (std::size_t row = 0; row < own.rows; ++row) {
    if (exact[row]) continue;
    const std::vector<double> of_row = own_distances(own.row(row), own.base);
    for (std::size_t launch = 0; launch < own.launches; ++launch)
      distances[launch].push_back(of_row[launch]);
  }
  std::vector<double> scatter;
  scatter.reserve(distances.size());
  for (std::vector<double>& of_launch : distances)
    scatter.push_back(statistics_of(std::move(of_launch)).median);
  const double typical = statistics_of(scatter).median;
  constexpr double kOdd = 2;  // less is what medians over ten rows differ by
  for (std::size_t launch = 0; launch < own.launches; ++launch) {
    const double ratio = scatter[launch] / typical;
    if (typical > 0 && ratio > kOdd) weights[launch] = 1 / (ratio * ratio);
  }
  return weights;
}

/// Of launches `first` to `end`, the farthest from their median.
std::size_t farthest_of(std::span<const double> row, std::size_t first, std::size_t end) {
  const double middle = side_of(row, first, end).median;
  std::size_t farthest = first;
  double distance = -1;
  for (std::size_t i = first; i < end; ++i) {
    if (!(std::abs(row[i] - middle) > distance)) continue;  // NaN is no launch of this row
    distance = std::abs(row[i] - middle);
    farthest = i;
  }
  return farthest;
}

/// Without the launch of each side that lies far from the others there: it would make the variance
/// so large that the test sees nothing, and no number of further launches settles the row. Of two
/// such launches on one side none is left out: they are no accident.
Effect without_odd(std::span<const double> row, std::span<const double> weights, std::size_t base,
                   const Effect& all, const Prior& prior) {
  constexpr std::size_t kFewest = 5;
  constexpr double kOddSpreads = 8;  // 5 would make findings of one comparison in 40 by chance
  if (all.base < kFewest || all.fresh < kFewest) return all;
  const std::size_t farthest[2] = {farthest_of(row, 0, base), farthest_of(row, base, row.size())};
  std::vector<double> rest(row.begin(), row.end());
  for (const std::size_t launch : farthest) rest[launch] = kNoNumber;
  Effect usual = raw_effect(rest, weights, base);
  // What is left of five without the farthest has some half of their variance.
  usual.spread *= std::sqrt(2.0);
  moderate(usual, prior);
  std::vector<std::size_t> odd;
  for (const bool fresh : {false, true}) {
    const std::size_t launch = farthest[fresh ? 1 : 0];
    const double middle = side_of(rest, fresh ? base : 0, fresh ? row.size() : base).median;
    const double distance = std::abs(row[launch] - middle) * std::sqrt(weights[launch]);
    if (distance > kOddSpreads * usual.spread) {
      odd.push_back(launch);
    } else {
      rest[launch] = row[launch];
    }
  }
  if (odd.empty()) return all;
  Effect made = raw_effect(rest, weights, base);
  moderate(made, prior);
  finish(made);
  made.base = all.base;
  made.fresh = all.fresh;
  made.left_out = std::move(odd);
  return made;
}

/// Times the variance of all rows, of one whose noise is its own: what it is drawn towards would
/// make a change of it. One GPU of eight that is sick has it; one of eight launches by chance has
/// it once in 400.
constexpr double kAlone = 3;

}  // namespace

LaunchMatrix::LaunchMatrix(std::size_t all_rows, std::size_t all_launches,
                           std::size_t base_launches)
    : rows(all_rows),
      launches(all_launches),
      base(base_launches),
      values(all_rows * all_launches, kNoNumber) {}

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

double Effect::margin() const {
  if (std::isnan(standard_error)) return kNoNumber;
  constexpr double kTail = 0.025;
  return student_upper(kTail, degrees) * standard_error;
}

double Effect::loss_limit() const {
  if (std::isnan(standard_error)) return kNoNumber;
  constexpr double kTail = 0.05;
  return student_upper(kTail, degrees) * standard_error - effect;
}

Effect Effects::total_of(std::size_t row) const {
  Effect made = rows[row];
  if (exact[row] || !separated) return made;
  made.effect += shared.effect;
  const double own = made.standard_error * made.standard_error;
  const double of_all = shared.standard_error * shared.standard_error;
  // Not std::hypot: it would be all that needs glibc 2.35.
  made.standard_error = std::sqrt(own + of_all);
  if (!(own + of_all > 0)) return made;
  // Welch and Satterthwaite: the smaller of both would make intervals hold 97.5 % of 95.
  made.degrees = (own + of_all) * (own + of_all) /
                 (own * own / made.degrees + of_all * of_all / shared.degrees);
  return made;
}

Effects moderated_effects(const LaunchMatrix& matrix, const std::vector<bool>& counts) {
  Effects made;
  made.exact = exact_rows(matrix, counts);
  made.separated =
      std::ranges::count(made.exact, false) >= static_cast<std::ptrdiff_t>(kFewestRowsForShift);
  made.shift =
      made.separated ? shared_shift(matrix, made.exact) : std::vector<double>(matrix.launches, 0.0);
  const LaunchMatrix own = without(matrix, made.shift, made.exact);
  made.weights = weights_of(own, made.exact);
  made.shared = raw_effect(made.shift, made.weights, matrix.base);
  finish(made.shared);
  made.shared = without_odd(made.shift, made.weights, matrix.base, made.shared, {});
  const std::vector<double> even(matrix.launches, 1.0);
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    made.rows.push_back(
        raw_effect(own.row(row), made.exact[row] ? even : made.weights, matrix.base));
  }
  // Cycles say nothing of rates, nor those that scatter of those that do not.
  std::vector<int> kind(matrix.rows);
  for (std::size_t row = 0; row < counts.size(); ++row)
    kind[row] = (counts[row] ? 1 : 0) + (made.exact[row] ? 1 : 0);
  const std::vector<Prior> priors = priors_of(made.rows, kind);
  std::vector<double> p;
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    Prior prior = priors[row];
    const double variance = made.rows[row].spread * made.rows[row].spread;
    if (counts.empty() && variance > kAlone * prior.variance) prior = {};
    moderate(made.rows[row], prior);
    finish(made.rows[row]);
    if (!made.exact[row]) {
      made.rows[row] = without_odd(own.row(row), made.weights, matrix.base, made.rows[row], prior);
    }
    p.push_back(made.rows[row].p);
  }
  const std::vector<double> q = false_discovery_rates(p);
  for (std::size_t row = 0; row < matrix.rows; ++row) made.rows[row].q = q[row];
  return made;
}

Effect plain_effect(std::span<const double> row, std::size_t base) {
  Effect made = raw_effect(row, std::vector<double>(row.size(), 1.0), base);
  finish(made);
  return made;
}

std::vector<FarValue> far_values(std::span<const double> values, const Prior& prior, double alpha,
                                 double least_spread) {
  constexpr std::size_t kFewest = 3;
  constexpr double kNear = 2;  // in standard deviations: nothing that counts is nearer
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isnan(values[i])) order.push_back(i);
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  if (order.size() < kFewest) return {};
  const double middle = values[order[order.size() / 2]];  // keeps the squares small
  double sum = 0, squares = 0;
  for (const std::size_t i : order) {
    sum += values[i] - middle;
    squares += (values[i] - middle) * (values[i] - middle);
  }
  const double prior_degrees = std::isnan(prior.variance) ? 0 : prior.degrees;
  std::vector<FarValue> made;
  std::size_t low = 0, high = order.size(), far = 0;
  while (made.size() < order.size() / kFewest) {
    const auto n = static_cast<double>(high - low);
    const bool at_low =
        sum / n - (values[order[low]] - middle) > values[order[high - 1]] - middle - sum / n;
    const std::size_t at = order[at_low ? low++ : --high];
    const double value = values[at] - middle;
    sum -= value;
    squares -= value * value;
    const double mean = sum / (n - 1), scatter = std::fmax(0, squares - sum * mean);
    const double degrees = n - 2 + prior_degrees;
    const double known = prior_degrees > 0 ? prior_degrees * prior.variance : 0;
    const double spread = std::fmax(least_spread, std::sqrt((known + scatter) / degrees));
    const double z = (value - mean) / spread;
    const double t = z / std::sqrt(1 + 1 / (n - 1));
    const double p = std::abs(t) < kNear ? 1 : n * student_two_sided(t, degrees);
    made.push_back({.at = at, .z = z, .p = std::fmin(1, p)});
    if (p < alpha) far = made.size();
  }
  made.resize(far);
  return made;
}

std::vector<double> false_discovery_rates(std::span<const double> p) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (!std::isnan(p[i])) order.push_back(i);
  }
  std::ranges::sort(order, {}, [&](std::size_t i) { return p[i]; });
  std::vector<double> q(p.size(), kNoNumber);
  double least = 1;
  const auto tests = static_cast<double>(order.size());
  for (std::size_t rank = order.size(); rank > 0; --rank) {
    const std::size_t i = order[rank - 1];
    least = std::min(least, p[i] * tests / static_cast<double>(rank));
    q[i] = least;
  }
  return q;
}

}  // namespace tidemark
