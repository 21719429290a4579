// Levels of a metric over launches, and where they change.
#include "reports/history/levels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>

#include "reports/base/statistics.hpp"
#include "reports/compare/speed/moderated.hpp"

namespace tidemark {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Of one launch, from neighbouring launches, so that steps do not count.
double spread_of(std::span<const double> values) {
  std::vector<double> steps;
  for (std::size_t i = 1; i < values.size(); ++i) {
    steps.push_back(std::abs(values[i] - values[i - 1]));
  }
  return kMadToSd * median_of(std::move(steps)) / std::numbers::sqrt2;
}

/// The tick of the clock that a metric was taken with, where its values go back and forth by ticks;
/// else 0.
double tick_of(std::span<const double> values) {
  constexpr double kRounding = 1e-6;  // a median is kept with seven digits
  constexpr double kRepeated = 0.25;
  constexpr std::size_t kFewest = 3;  // two levels may be noiseless
  std::size_t moves = 0, repeated = 0;
  double tick = std::numeric_limits<double>::infinity();
  for (std::size_t i = 1; i < values.size(); ++i) {
    const double move = std::abs(values[i] - values[i - 1]);
    ++(move < kRounding ? repeated : moves);
    if (move >= kRounding) tick = std::min(tick, move);
  }
  const double least = kRepeated * static_cast<double>(values.size());
  return moves >= kFewest && static_cast<double>(repeated) >= least ? tick : 0;
}

/// `floor`, or more than a tick: values that go back and forth by one are no levels, and their
/// scatter says nothing of how sure a step of one is.
double above_ticks(std::span<const double> values, double floor) {
  constexpr double kTicks = 2.5;  // the median of an even number may lie in the middle of two
  return std::max(floor, kTicks * tick_of(values));
}

/// Odd launches drawn in. Of the five launches around, three are a level and stay; at the ends it
/// is the first or last five, so that two launches are no level there either.
std::vector<double> without_odd(std::span<const double> values) {
  // Drawn in, values beside a tick would leave no scatter, and any step would be sure.
  if (tick_of(values) > 0) return {values.begin(), values.end()};
  constexpr std::size_t kWindow = 2 * kLeastLevel - 1;
  constexpr double kMostDeviations = 3;
  const double most = kMostDeviations * spread_of(values);
  std::vector<double> made;
  made.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t centred = i < kWindow / 2 ? 0 : i - kWindow / 2;
    const auto window = values.subspan(std::min(centred, values.size() - kWindow), kWindow);
    const double middle = median_of({window.begin(), window.end()});
    made.push_back(std::clamp(values[i], middle - most, middle + most));
  }
  return made;
}

struct Interval {
  std::size_t first = 0, end = 0;

  std::size_t length() const { return end - first; }
};

/// Each layer is shorter by the square root of two and overlaps by half.
std::vector<Interval> seeded_intervals(std::size_t length) {
  std::vector<Interval> made;
  const auto all = static_cast<double>(length);
  for (double shorter = 1; all / shorter >= static_cast<double>(kLeastSeries);
       shorter *= std::numbers::sqrt2) {
    const double size = all / shorter;
    const double number = 2 * std::ceil(shorter - 1e-9) - 1;
    const double stride = number > 1 ? (all - size) / (number - 1) : 0;
    for (double i = 0; i < number; ++i) {
      const auto first = static_cast<std::size_t>(std::floor(i * stride));
      const auto end = static_cast<std::size_t>(std::ceil(i * stride + size - 1e-9));
      made.push_back({first, std::min(end, length)});
    }
  }
  return made;
}

/// Sums from the start, by which each split costs the same.
struct Sums {
  std::vector<double> values = {0}, squares = {0};

  explicit Sums(const std::vector<double>& from) {
    const double centre = median_of(from);  // keeps the squares small
    for (const double value : from) {
      values.push_back(values.back() + (value - centre));
      squares.push_back(squares.back() + (value - centre) * (value - centre));
    }
  }
  double sum(std::size_t first, std::size_t end) const { return values[end] - values[first]; }
  /// Squared distances from the mean.
  double scatter(std::size_t first, std::size_t end) const {
    const double s = sum(first, end);
    return std::max(0.0, squares[end] - squares[first] - s * s / static_cast<double>(end - first));
  }
};

struct Split {
  Interval in;
  std::size_t at = 0;
  double t = 0, p = 1;  // p of this test alone
};

double t_of(const Sums& sums, const Interval& in, std::size_t at, double floor) {
  const auto left = static_cast<double>(at - in.first), right = static_cast<double>(in.end - at);
  const double step = sums.sum(at, in.end) / right - sums.sum(in.first, at) / left;
  if (std::abs(step) < floor) return 0;
  const double variance =
      (sums.scatter(in.first, at) + sums.scatter(at, in.end)) / (left + right - 2);
  return std::abs(step) / std::sqrt(variance * (1 / left + 1 / right));  // infinite without noise
}

/// Of those that begin a level at `first` to `last`.
Split best_split(const Sums& sums, const Interval& in, double floor, std::size_t first,
                 std::size_t last) {
  Split made{.in = in};
  for (std::size_t at = first; at <= last; ++at) {
    const double t = t_of(sums, in, at, floor);
    if (t > made.t) {
      made.t = t;
      made.at = at;
    }
  }
  constexpr double kLeastT = 2;  // below it no series is long enough for its p to matter
  if (made.t > kLeastT) made.p = student_two_sided(made.t, static_cast<double>(in.length() - 2));
  return made;
}

struct Search {
  std::vector<Split> splits;  // of each interval its best, likeliest change first
  double tried = 0;           // how many splits there were
};

Search search(const Sums& sums, std::size_t length, double floor, Releases releases) {
  Search made;
  const auto search_in = [&](const Interval& in, std::size_t first, std::size_t last) {
    made.tried += static_cast<double>(last + 1 - first);
    const Split split = best_split(sums, in, floor, first, last);
    if (split.p < 1) made.splits.push_back(split);
  };
  std::vector<std::size_t> ends(releases.begin(), releases.end());
  ends.push_back(length);
  std::size_t begin = 0;
  for (std::size_t i = 0; i < ends.size(); begin = ends[i++]) {
    for (Interval in : seeded_intervals(ends[i] - begin)) {
      in = {begin + in.first, begin + in.end};
      search_in(in, in.first + kLeastLevel, in.end - kLeastLevel);
    }
    if (ends[i] == length) break;
    // The level behind a release may end before the next one.
    const std::size_t before = ends[i] - begin, behind = ends[i + 1] - ends[i];
    for (std::size_t reach = kLeastLevel; reach < 2 * std::max(before, behind); reach *= 2) {
      search_in({ends[i] - std::min(reach, before), ends[i] + std::min(reach, behind)}, ends[i],
                ends[i]);
    }
  }
  std::ranges::sort(made.splits, [](const Split& a, const Split& b) {
    if (a.p != b.p) return a.p < b.p;
    if (a.t != b.t) return a.t > b.t;
    return a.in.length() < b.in.length();
  });
  return made;
}

/// Takes the likeliest split, then those of intervals that hold none that was taken, and those of
/// releases, which no other change explains.
std::vector<std::size_t> chosen(const Search& found, double most_p, Releases releases) {
  std::vector<std::size_t> made;
  for (const Split& split : found.splits) {
    if (split.p * found.tried > most_p) break;
    const bool fixed = std::ranges::binary_search(releases, split.at);
    const bool crossed = std::ranges::any_of(made, [&](std::size_t at) {
      return at == split.at || (!fixed && split.in.first < at && at < split.in.end);
    });
    if (!crossed) made.push_back(split.at);
  }
  std::ranges::sort(made);
  return made;
}

/// Whether most of the step lies between the nights right before and right after it. What drifts or
/// goes with the season gets from one level to another over many.
bool is_abrupt(std::span<const double> values, const ChangePoint& point) {
  constexpr double kMost = 0.6;
  const double jump = median_of(values, point.at, point.at + kLeastLevel) -
                      median_of(values, point.at - kLeastLevel, point.at);
  return jump / point.step >= kMost;
}

/// The values less the mean of their level.
std::vector<double> without_levels(std::span<const double> values,
                                   const std::vector<std::size_t>& at) {
  std::vector<double> made(values.begin(), values.end());
  std::size_t first = 0;
  for (std::size_t i = 0; i <= at.size(); ++i) {
    const std::size_t end = i == at.size() ? values.size() : at[i];
    double sum = 0;
    for (std::size_t k = first; k < end; ++k) sum += values[k];
    for (std::size_t k = first; k < end; ++k) made[k] -= sum / static_cast<double>(end - first);
    first = end;
  }
  return made;
}

Worth worth_of(std::span<const double> values, const std::vector<std::size_t>& at) {
  const std::vector<double> left = without_levels(values, at);
  double squares = 0;
  for (const double value : left) squares += value * value;
  const auto n = static_cast<double>(left.size());
  constexpr double kRounding = 1e-6;  // a median is kept with seven digits
  if (squares <= n * kRounding * kRounding) return {kNaN, kNaN};
  const auto lags = static_cast<std::size_t>(std::sqrt(n));
  const double most = 4 * spread_of(left);  // of a distance: a missed step weighs little
  double sum = 1, apart[2] = {};
  for (std::size_t lag = 1; lag <= lags; ++lag) {
    double products = 0;
    for (std::size_t i = lag; i < left.size(); ++i) products += left[i] * left[i - lag];
    for (std::size_t i = 2; lag <= 2 && i < left.size(); ++i) {
      apart[lag - 1] += std::pow(std::min(most, std::abs(left[i] - left[i - lag])), 2);
    }
    // Each mean that was taken off makes its neighbours look apart by one n-th.
    const double seen = products / squares + static_cast<double>(at.size() + 1) / n;
    sum += 2 * (1 - static_cast<double>(lag) / static_cast<double>(lags + 1)) * seen;
  }
  constexpr double kLeast = 0.01, kMostKept = 0.95, kDeviations = 2;
  const double kept = apart[0] > 0 ? std::min(kMostKept, apart[1] / apart[0] - 1) : kNaN;
  return {.lags = sum > 0 ? std::max(kLeast, 1 / sum) : 1,
          .first = kept <= kDeviations / std::sqrt(n) ? 1 : (1 - kept) / (1 + kept)};
}

/// The same of one series alone: 1 unless it is below what chance makes of it.
double worth_alone(std::span<const double> values, const std::vector<std::size_t>& at) {
  constexpr double kDeviations = 2;
  const auto n = static_cast<double>(values.size());
  const double worth = worth_of(values, at).lags;
  const double by_chance = 1 + kDeviations * 2 * std::sqrt(std::sqrt(n) / 3 / n);
  return worth < 1 / by_chance ? worth : 1;
}

/// Each with the levels on both its sides, as far as the next of `edges`, which are changes and
/// releases; `worth`: share of the values that counts.
std::vector<ChangePoint> judged(std::span<const double> values, const Sums& sums, double tried,
                                const std::vector<std::size_t>& at,
                                const std::vector<std::size_t>& edges, double worth) {
  std::vector<ChangePoint> made;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const auto edge = std::ranges::lower_bound(edges, at[i]);
    const Interval in{edge == edges.begin() ? 0 : *(edge - 1),
                      edge + 1 == edges.end() ? values.size() : *(edge + 1)};
    const double t = t_of(sums, in, at[i], 0) * std::sqrt(worth);
    const double degrees = std::max(1.0, worth * static_cast<double>(in.length()) - 2);
    made.push_back({.at = at[i],
                    .first = in.first,
                    .end = in.end,
                    .p = std::min(1.0, tried * student_two_sided(t, degrees)),
                    .step = median_of(values, at[i], in.end) - median_of(values, in.first, at[i])});
  }
  return made;
}

}  // namespace

double strongest_change(std::span<const double> values, double floor, Releases releases) {
  if (values.size() < kLeastSeries) return 1;
  floor = above_ticks(values, floor);
  const Search found = search(Sums(without_odd(values)), values.size(), floor, releases);
  return found.splits.empty() ? 1 : std::min(1.0, found.splits.front().p * found.tried);
}

double newest_step(std::span<const double> values, double floor) {
  if (values.size() < kLeastSeries + 2) return 0;
  floor = above_ticks(values, floor);
  const auto others = values.first(values.size() - 2);
  const auto [low, high] = std::ranges::minmax_element(others);
  constexpr double kNights = 10;  // the range of few nights is short by chance
  const double share = std::max(0.5, kNights / static_cast<double>(others.size()));
  const double most = std::max(floor, share * (*high - *low)), newest = values.back();
  if (newest >= *low - most && newest <= *high + most) return 0;
  return newest - median_of({others.begin(), others.end()});
}

Worth worth_of_steady(std::span<const double> values, Releases releases) {
  if (values.size() < kLeastSeries) return {};
  return worth_of(without_odd(values), {releases.begin(), releases.end()});
}

Changes change_points(std::span<const double> values, double floor, double most_p,
                      double most_worth, Releases releases) {
  if (values.size() < kLeastSeries) return {};
  floor = above_ticks(values, floor);
  const std::vector<double> even = without_odd(values);
  const Sums sums(even);
  const Search found = search(sums, values.size(), floor, releases);
  std::vector<std::size_t> at = chosen(found, most_p, releases);
  double worth = most_worth;
  bool drifts = false;
  for (;;) {
    std::vector<std::size_t> edges;
    std::ranges::set_union(at, releases, std::back_inserter(edges));
    std::vector<ChangePoint> made = judged(values, sums, found.tried, at, edges, worth);
    // The weakest that does not hold between its neighbours goes first: without it they grow.
    std::size_t worst = made.size();
    for (std::size_t i = 0; i < made.size(); ++i) {
      const bool holds = std::abs(made[i].step) >= floor && made[i].p <= most_p;
      if (!holds && (worst == made.size() || made[i].p > made[worst].p)) worst = i;
    }
    if (worst < made.size()) {
      at.erase(at.begin() + static_cast<std::ptrdiff_t>(worst));
      drifts = drifts || worth < 1;
      continue;
    }
    const std::size_t before = at.size();
    std::erase_if(at, [&](std::size_t one) {
      return !is_abrupt(values, *std::ranges::find(made, one, &ChangePoint::at));
    });
    if (at.size() < before) {
      drifts = true;
      continue;
    }
    const double left = made.empty() ? worth : worth_alone(even, edges);
    if (left >= worth)
      return {.points = std::move(made), .drifts = drifts, .worth = worth_of(even, edges)};
    worth = left;
  }
}

double discovery_threshold(const std::vector<double>& p, double rate) {
  const std::vector<double> q = false_discovery_rates(p);
  const auto taken = std::ranges::count_if(q, [&](double one) { return one <= rate; });
  const double least = rate * static_cast<double>(std::max<std::ptrdiff_t>(taken, 1));
  return p.empty() ? 0 : least / static_cast<double>(p.size());
}

// Median polish of a table with holes.

namespace {

void fill(MetricLevels& made, const Chronicle& all, std::span<const PastValues> values) {
  std::map<std::uint32_t, std::size_t> rows;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::vector<std::uint32_t>& gpus = all.launches[values[i].launch].gpus;
    made.launches.push_back(values[i].launch);
    for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu) {
      const auto value = static_cast<double>(values[i].medians[gpu]);
      if (std::isnan(value)) continue;
      const auto [at, fresh] = rows.try_emplace(gpus[gpu], made.gpus.size());
      if (fresh) {
        made.gpus.push_back(gpus[gpu]);
        made.own.emplace_back(values.size(), kNaN);
      }
      made.own[at->second][i] = std::log(value);
    }
  }
}

/// Of each launch, or else of each GPU, the median without what is known of its GPUs or launches.
void polish(MetricLevels& made, bool launches) {
  std::vector<double>& medians = launches ? made.typical : made.offset;
  const std::vector<double>& known = launches ? made.offset : made.typical;
  std::vector<double> left;
  for (std::size_t i = 0; i < medians.size(); ++i) {
    left.clear();
    for (std::size_t k = 0; k < known.size(); ++k) {
      const double value = launches ? made.own[k][i] : made.own[i][k];
      if (!std::isnan(value)) left.push_back(value - known[k]);
    }
    medians[i] = median_of(left);
  }
}

}  // namespace

MetricLevels levels_of(const Chronicle& all, std::span<const PastValues> values) {
  MetricLevels made;
  fill(made, all, values);
  made.typical.assign(made.launches.size(), 0);
  made.offset.assign(made.gpus.size(), 0);
  constexpr int kRounds = 4;  // Tukey's own advice is two; holes want some more
  for (int round = 0; round < kRounds; ++round) {
    polish(made, true);
    polish(made, false);
  }
  polish(made, true);
  // The typical GPU has the offset that the median of them has.
  std::vector<double> offsets = made.offset;
  const double middle = median_of(offsets);
  for (double& offset : made.offset) offset -= middle;
  for (double& level : made.typical) level += middle;
  return made;
}

}  // namespace tidemark
