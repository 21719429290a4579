// Fits a distribution to the variances of metrics, or looks at how far their effects lie apart.

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "reports/base/statistics.hpp"
#include "reports/compare/speed/moderated.hpp"

namespace tidemark {

namespace {

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
  // Few rows agree by chance. Of many: degrees beyond which nothing changes.
  constexpr std::size_t kFewRows = 10;
  const double most = rows.size() < kFewRows ? kPriorDegrees : 100;
  const double degrees = excess > 0 ? std::min(most, 2 * trigamma_inverse(excess)) : most;
  const double half = degrees / 2;
  return {.variance = std::exp(mean + digamma(half) - std::log(half)), .degrees = degrees};
}

/// Of rows with one launch a side, which say nothing of their own noise: most do not change, so
/// that how far their effects lie from each other says how far one does by chance.
Prior scatter_of(const std::vector<const Effect*>& rows) {
  std::vector<double> effects;
  for (const Effect* row : rows)
    if (row->base == 1 && row->fresh == 1) effects.push_back(row->effect);
  if (effects.size() < kFewestRowsForWeights) return {};
  const double spread = kMadToSd * statistics_of(std::move(effects)).mad;
  // An effect is the difference of two launches.
  return {.variance = spread * spread / 2, .degrees = kPriorDegrees};
}

Prior prior_of(const std::vector<const Effect*>& rows) {
  std::vector<const Effect*> known;
  std::ranges::copy_if(rows, std::back_inserter(known),
                       [](const Effect* row) { return row->degrees > 0 && row->spread > 0; });
  if (known.empty()) return scatter_of(rows);
  return known.size() < kFewestRowsForShift ? Prior{} : fitted(known);
}

}  // namespace

std::vector<Prior> priors_of(const std::vector<Effect>& rows, const std::vector<int>& kind) {
  std::map<int, std::vector<const Effect*>> alike;
  for (std::size_t row = 0; row < rows.size(); ++row) alike[kind[row]].push_back(&rows[row]);
  std::map<int, Prior> of_kind;
  for (const auto& [key, members] : alike) of_kind[key] = prior_of(members);
  std::vector<Prior> made;
  made.reserve(rows.size());
  for (const int one : kind) made.push_back(of_kind.at(one));
  return made;
}

}  // namespace tidemark
