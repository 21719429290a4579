// The tail of Student's t by the continued fraction of the incomplete beta function.
#include "reports/compare/speed/student_t.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace tidemark::reports {
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

}  // namespace tidemark::reports
