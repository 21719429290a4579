// Counts the orders in which two samples can come.
#include "reports/compare/rank_tests.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace tidemark::reports {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kMostValues = 50;

/// How many of all orders of n and m values give each count of pairs in which the second is
/// greater.
std::vector<double> orders_by_wins(std::size_t n, std::size_t m) {
  // made[j][u] for i values of the first sample so far.
  std::vector<std::vector<double>> made(m + 1, std::vector<double>(n * m + 1, 0));
  for (std::size_t j = 0; j <= m; ++j) made[j][0] = 1;
  for (std::size_t i = 1; i <= n; ++i) {
    for (std::size_t j = 1; j <= m; ++j) {
      // The greatest of all is of the first sample, or of the second and above i of the first.
      std::vector<double> next = made[j];
      for (std::size_t u = i; u <= n * m; ++u) next[u] += made[j - 1][u - i];
      made[j] = std::move(next);
    }
  }
  return made[m];
}

}  // namespace

double rank_sum_p(std::span<const double> base, std::span<const double> fresh) {
  if (base.empty() || fresh.empty() || base.size() > kMostValues || fresh.size() > kMostValues) {
    return kNothing;
  }
  double wins = 0;
  for (const double a : base) {
    for (const double b : fresh) wins += b > a ? 1.0 : b == a ? 0.5 : 0.0;
  }
  const auto pairs = static_cast<double>(base.size() * fresh.size());
  const auto fewer = static_cast<std::size_t>(std::ceil(std::min(wins, pairs - wins)));
  const std::vector<double> orders = orders_by_wins(base.size(), fresh.size());
  const double all = std::accumulate(orders.begin(), orders.end(), 0.0);
  const double tail =
      std::accumulate(orders.begin(), orders.begin() + static_cast<std::ptrdiff_t>(fewer) + 1, 0.0);
  return std::min(1.0, 2 * tail / all);
}

double hodges_lehmann(std::span<const double> base, std::span<const double> fresh) {
  std::vector<double> differences;
  for (const double a : base) {
    for (const double b : fresh) differences.push_back(b - a);
  }
  if (differences.empty()) return kNothing;
  std::sort(differences.begin(), differences.end());
  const std::size_t n = differences.size();
  return (differences[n / 2] + differences[(n - 1) / 2]) / 2;
}

}  // namespace tidemark::reports
