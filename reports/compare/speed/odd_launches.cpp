// Launches that are no measure of their side: one that lies far off is odd, several make the side
// unstable.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "reports/base/statistics.hpp"
#include "reports/compare/conformance.hpp"
#include "reports/compare/speed/speed.hpp"

namespace tidemark {
namespace {

/// How far a launch lies from the median of the others of its side.
double distance_of(std::span<const double> row, std::size_t base, std::size_t launch) {
  std::vector<double> others;
  others.reserve(row.size());
  for (std::size_t i = launch < base ? 0 : base; i < (launch < base ? base : row.size()); ++i)
    if (i != launch) others.push_back(row[i]);
  return row[launch] - statistics_of(std::move(others)).median;
}

/// The same in the median over these rows.
double distance_of(const LaunchMatrix& matrix, const std::vector<std::size_t>& rows,
                   std::size_t launch) {
  std::vector<double> distances;
  distances.reserve(rows.size());
  for (const std::size_t row : rows)
    distances.push_back(distance_of(matrix.row(row), matrix.base, launch));
  return statistics_of(std::move(distances)).median;
}

/// Launches far below the base: beyond its noise and beyond what counts.
struct SlowLaunches {
  FailedLaunches base, fresh;
};

/// In a launch in which all metrics scatter farther (`weights`) one has to lie farther off.
SlowLaunches slow_launches(std::span<const double> row, std::size_t base,
                           const std::vector<double>& weights, const Effect& effect, double floor) {
  const std::span<const double> before = row.first(base);
  const double middle = statistics_of({before.begin(), before.end()}).median;
  SlowLaunches made;
  for (std::size_t i = 0; i < row.size(); ++i) {
    FailedLaunches& side = i < base ? made.base : made.fresh;
    const double loss = middle - row[i];
    const bool beyond_noise = loss * std::sqrt(weights[i]) > kUnstableSpreads * effect.base_spread;
    side.ran += std::isnan(row[i]) ? 0U : 1U;
    side.failed += beyond_noise && loss > floor ? 1U : 0U;
  }
  return made;
}

std::string unstable_text(const SlowLaunches& slow, const Effect& effect, double floor) {
  return fmt::format(
      "unstable: {} of {} new launches lie more than {:.2g} % below the base, whose launches "
      "differ by {:.2g} %",
      slow.fresh.failed, slow.fresh.ran,
      100 * std::fmax(kUnstableSpreads * effect.base_spread, floor), 100 * effect.base_spread);
}

/// p of so many slow launches of the new side, by how often launches are slow elsewhere; 1 of a
/// single one, which is an odd launch, of all, which are no instability, and of fewer launches than
/// tell these apart.
double p_of_unstable(const SlowLaunches& slow, const FailedLaunches& elsewhere) {
  constexpr std::uint32_t kFewest = 2, kUsualLaunches = 20;  // without a slow one, where few ran
  const bool few = std::min(slow.base.ran, slow.fresh.ran) < kSureLaunches;
  if (few || slow.fresh.failed < kFewest || slow.fresh.failed == slow.fresh.ran) return 1;
  return p_of_more({elsewhere.failed, elsewhere.ran + kUsualLaunches}, slow.fresh);
}

}  // namespace

std::vector<OddLaunch> odd_launches(const LaunchMatrix& matrix, const Effects& effects,
                                    const std::vector<std::size_t>& judged, double floor) {
  const double least = kOddFloors * floor;
  std::vector<OddLaunch> made;
  std::vector<std::size_t> all(matrix.rows);
  std::iota(all.begin(), all.end(), 0U);
  const auto leaves_out = [](const Effect& effect, std::size_t launch) {
    return std::ranges::find(effect.left_out, launch) != effect.left_out.end();
  };
  for (std::size_t i = 0; i < matrix.launches; ++i) {
    const bool is_odd = effects.weights[i] < kOddWeight || leaves_out(effects.shared, i);
    const double of_all = is_odd ? distance_of(matrix, all, i) : 0;
    if (std::abs(of_all) >= least) {
      made.push_back({.launch = i, .distance = of_all});
      continue;
    }
    std::vector<std::size_t> rows, metrics;
    for (const std::size_t row : all) {
      if (!leaves_out(effects.rows[row], i)) continue;
      if (!(std::abs(distance_of(matrix.row(row), matrix.base, i)) >= least)) continue;
      rows.push_back(row);
      metrics.push_back(judged[row]);
    }
    const double of_rows = distance_of(matrix, rows, i);
    if (!rows.empty())
      made.push_back({.launch = i, .metrics = std::move(metrics), .distance = of_rows});
  }
  return made;
}

void judge_unstable(SpeedComparison& made, const LaunchMatrix& matrix,
                    const std::vector<std::size_t>& judged) {
  const LaunchMatrix own = without(matrix, made.effects.shift, made.effects.exact);
  std::vector<SlowLaunches> slow;
  slow.reserve(judged.size());
  FailedLaunches all;
  for (std::size_t row = 0; row < judged.size(); ++row) {
    const SpeedFinding& finding = made.series[judged[row]];
    const std::vector<double> weights =
        finding.exact ? std::vector<double>(own.launches, 1.0) : made.effects.weights;
    slow.push_back(slow_launches(own.row(row), own.base, weights, finding.own, finding.floor));
    for (const FailedLaunches& side : {slow.back().base, slow.back().fresh}) {
      all.failed += side.failed;
      all.ran += side.ran;
    }
  }
  std::vector<double> p;
  p.reserve(judged.size());
  for (const SlowLaunches& one : slow) {
    p.push_back(p_of_unstable(one, {all.failed - one.fresh.failed, all.ran - one.fresh.ran}));
  }
  const std::vector<double> q = false_discovery_rates(p);
  for (std::size_t row = 0; row < judged.size(); ++row) {
    SpeedFinding& finding = made.series[judged[row]];
    // Where all else is faster, what is only slower than the rest is no regression.
    const bool slower = finding.total < -finding.floor;
    if (!slower || finding.verdict == SpeedVerdict::regressed) continue;
    if (!(q[row] < made.policy.false_discovery)) continue;
    finding.verdict = SpeedVerdict::regressed;
    finding.launches_needed = 0;
    finding.why = unstable_text(slow[row], finding.own, finding.floor);
  }
}

void judge_unstable_shift(SpeedComparison& made, std::size_t base) {
  const SpeedPolicy& policy = made.policy;
  const Effect& shared = made.effects.shared;
  const SlowLaunches slow =
      slow_launches(made.effects.shift, base, made.effects.weights, shared, policy.floor);
  if (made.shared == SpeedVerdict::regressed ||
      !(p_of_unstable(slow, slow.base) < policy.shared_alpha))
    return;
  made.shared = SpeedVerdict::regressed;
  made.why_shared = unstable_text(slow, shared, policy.floor);
}

}  // namespace tidemark
