// Judges every series of a chronicle; which GPUs are judged how depends on how many there are.
#include "reports/history/history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "reports/base/statistics.hpp"
#include "reports/history/levels.hpp"

namespace tidemark {
namespace {

/// One series that is looked at: values, and the launches they are of.
struct Candidate {
  std::uint32_t metric = 0, gpu = kNoRow;
  bool apart = false;
  double p = 1;
  Worth worth = {};  // of its values, if there is no change
};

/// One value a night: launches of one command share what that night was like, and five of them
/// know no more of it than one does.
struct Line {
  std::vector<double> values;
  std::vector<std::uint32_t> first, last;  // launches of each
  std::vector<std::size_t> releases = {};  // with which night each begins
};

/// With which night a release begins; 0 where it does not lie between two nights.
std::size_t first_night_of(const Line& line, const Chronicle& all, std::uint32_t release) {
  const auto at =
      static_cast<std::size_t>(std::ranges::lower_bound(line.first, release) - line.first.begin());
  if (at == 0 || at == line.first.size() || line.last[at - 1] >= release) return 0;
  return all.launches[release].is_virtual == all.launches[line.first[at]].is_virtual ? at : 0;
}

/// A release that leaves less than a level before the next one or an end splits nothing: else one a
/// night would leave no series.
void add_releases(Line& line, const Chronicle& all, std::uint32_t gpu) {
  std::vector<std::size_t> starts = {0};
  for (const std::uint32_t release : all.releases.at(gpu)) {
    const std::size_t at = first_night_of(line, all, release);
    if (at > starts.back()) starts.push_back(at);
  }
  starts.push_back(line.values.size());
  for (std::size_t i = 1; i + 1 < starts.size(); ++i) {
    const std::size_t least = std::min(starts[i] - starts[i - 1], starts[i + 1] - starts[i]);
    if (least >= kLeastLevel) line.releases.push_back(starts[i]);
  }
}

/// `values`: one a launch of `launches`, NaN where it has none. Launches of one series that follow
/// each other are a night, and its value is their median. `gpu`: whose releases split it.
Line nights_of(const Chronicle& all, const std::vector<double>& values,
               const std::vector<std::uint32_t>& launches, std::uint32_t gpu) {
  Line made;
  for (std::size_t i = 0; i < values.size();) {
    const std::string& series = all.launches[launches[i]].series_id;
    std::vector<double> night;
    std::uint32_t first = kNoRow, last = kNoRow;
    const std::size_t begin = i;
    for (; i < values.size() &&
           (i == begin || (!series.empty() && all.launches[launches[i]].series_id == series));
         ++i) {
      if (std::isnan(values[i])) continue;
      if (night.empty()) first = launches[i];
      last = launches[i];
      night.push_back(values[i]);
    }
    if (night.empty()) continue;
    made.values.push_back(median_of(std::move(night)));
    made.first.push_back(first);
    made.last.push_back(last);
  }
  add_releases(made, all, gpu);
  return made;
}

/// `row`: of a GPU in the levels; behind the last one stands the typical GPU.
Line line_of(const Chronicle& all, const MetricLevels& levels, std::size_t row, bool apart) {
  if (row == levels.gpus.size()) return nights_of(all, levels.typical, levels.launches, kNoRow);
  const std::uint32_t gpu = levels.gpus[row];
  if (!apart) return nights_of(all, levels.own[row], levels.launches, gpu);
  std::vector<double> values;
  for (std::size_t i = 0; i < levels.launches.size(); ++i) values.push_back(levels.apart(row, i));
  return nights_of(all, values, levels.launches, gpu);
}

/// With three GPUs there is a typical one, and each is held against it; one or two stand for
/// themselves.
constexpr std::size_t kFewestForTypical = 3;

struct Lines {
  bool typical = false, apart = false;
  std::vector<std::size_t> gpus;  // judged one by one
};

Lines lines_of(const Chronicle& all, const MetricLevels& levels) {
  Lines made;
  for (std::size_t gpu = 0; gpu < levels.gpus.size(); ++gpu) {
    const Line own = line_of(all, levels, gpu, false);
    if (own.values.size() >= kLeastSeries) made.gpus.push_back(gpu);
  }
  made.typical = levels.gpus.size() >= kFewestForTypical || made.gpus.empty();
  made.apart = made.gpus.size() >= kFewestForTypical;
  if (made.typical && !made.apart) made.gpus.clear();
  return made;
}

/// The least change that counts: `floor`, or two ticks of the clock that a metric was taken with.
/// Its GPUs together say what that is: values that often repeat, and move up as well as down.
double least_step(const MetricLevels& levels, double floor) {
  constexpr double kRounding = 1e-6;  // a median is kept with seven digits
  constexpr double kTicks = 2;
  double tick = std::numeric_limits<double>::infinity();
  std::size_t up = 0, down = 0, repeated = 0;
  for (const std::vector<double>& own : levels.own) {
    for (std::size_t i = 1; i < own.size(); ++i) {
      const double move = own[i] - own[i - 1];
      if (std::abs(move) < kRounding) ++repeated;
      if (!(std::abs(move) >= kRounding)) continue;
      ++(move > 0 ? up : down);
      tick = std::min(tick, std::abs(move));
    }
  }
  const bool ticks = up > 0 && down > 0 && 3 * repeated >= up + down;
  return ticks ? std::max(floor, kTicks * tick) : floor;
}

/// The typical GPUs and those that stand for themselves, and those held against a typical one: two
/// families, so that a fleet of a thousand GPUs does not hide what all of them do.
using CandidateFamilies = std::array<std::vector<Candidate>, 2>;

/// Whether no launch of that level came after the night of this one.
bool is_newest(const Chronicle& all, const MetricKey& key, std::uint32_t launch) {
  const std::string& night = all.launches[launch].series_id;
  return std::none_of(all.launches.begin() + launch + 1, all.launches.end(), [&](const auto& one) {
    const bool same_night = !night.empty() && one.series_id == night;
    return !same_night && one.level == key.level && one.is_virtual == key.is_virtual;
  });
}

/// `own`: what the GPU or the typical one gives in all, in the nights of `line`. Nights before the
/// newest release do not count where it has enough.
void add_newest(History& made, const Candidate& of, const Line& line, const Line& own,
                double floor) {
  const std::size_t size = line.values.size();
  std::size_t first = line.releases.empty() ? 0 : line.releases.back();
  if (size - first < kLeastSeries + 2) first = 0;
  const double step = newest_step(std::span(line.values).subspan(first), floor);
  if (step * newest_step(std::span(own.values).subspan(first), floor) <= 0) return;
  if (!is_newest(made.chronicle, made.metrics[of.metric].key, line.last.back())) return;
  made.newest.push_back({.metric = of.metric,
                         .gpu = of.gpu,
                         .apart = of.apart,
                         .before = line.last[size - 3],
                         .after = line.first.back(),
                         .step = step,
                         .from = std::exp(own.values.back() - step),
                         .to = std::exp(own.values.back()),
                         .p = std::nan(""),
                         .nights = size - 2 - first});
}

CandidateFamilies candidates_of(History& made) {
  const Chronicle& all = made.chronicle;
  CandidateFamilies found;
  for (std::uint32_t i = 0; i < made.metrics.size(); ++i) {
    const MetricLevels levels = levels_of(all, *made.metrics[i].values);
    const Lines lines = lines_of(all, levels);
    const double floor = least_step(levels, made.options.floor);
    const auto add = [&](std::size_t row, std::uint32_t gpu, bool apart) {
      const Line line = line_of(all, levels, row, apart);
      if (line.values.size() < kLeastSeries) return;
      for (Release& release : made.releases) {
        const std::size_t at = first_night_of(line, all, release.after);
        release.measured = release.measured || at > 0;
        release.judged = release.judged || std::ranges::binary_search(line.releases, at);
      }
      std::vector<Candidate>& family = found[apart ? 1 : 0];
      family.push_back({.metric = i,
                        .gpu = gpu,
                        .apart = apart,
                        .p = strongest_change(line.values, floor, line.releases),
                        .worth = worth_of_steady(line.values, line.releases)});
      add_newest(made, family.back(), line, line_of(all, levels, row, false), floor);
    };
    if (lines.typical) add(levels.gpus.size(), kNoRow, false);
    for (const std::size_t row : lines.gpus) add(row, levels.gpus[row], lines.apart);
  }
  std::ranges::stable_sort(made.newest, std::greater{},
                           [](const auto& of) { return std::abs(of.step); });
  return found;
}

/// The series that a candidate is, with the levels that it comes from.
struct Series {
  MetricLevels levels;
  std::size_t gpu = 0;
  Line line = {};
};

Series series_of(const History& made, const Candidate& candidate) {
  Series series{.levels = levels_of(made.chronicle, *made.metrics[candidate.metric].values)};
  const auto& gpus = series.levels.gpus;
  series.gpu = static_cast<std::size_t>(std::ranges::find(gpus, candidate.gpu) - gpus.begin());
  series.line = line_of(made.chronicle, series.levels, series.gpu, candidate.apart);
  return series;
}

/// What a value of the family is worth: of most series, those that change without their levels. A
/// drift or a season of all shows there, and a step of a few does not.
double common_worth(const History& made, const std::vector<Candidate>& family, double most_p) {
  std::vector<double> lags, first;
  for (const Candidate& candidate : family) {
    Worth worth = candidate.worth;
    if (candidate.p <= most_p) {
      const auto [levels, gpu, line] = series_of(made, candidate);
      const double floor = least_step(levels, made.options.floor);
      worth = change_points(line.values, floor, most_p, 1, line.releases).worth;
    }
    if (!std::isnan(worth.lags)) lags.push_back(worth.lags);
    if (!std::isnan(worth.first)) first.push_back(worth.first);
  }
  const double by_lags = lags.empty() ? 1 : median_of(std::move(lags));
  return std::min({1.0, by_lags, first.empty() ? 1 : median_of(std::move(first))});
}

/// Whether a GPU did itself what it did beside the others: where most of them are slower, one that
/// stayed as it was did not become faster. `line`: what it gives, night by night.
bool is_its_own(const std::vector<double>& line, const ChangePoint& point, double floor) {
  const double step = median_of(line, point.at, point.end) - median_of(line, point.first, point.at);
  return std::abs(step) > floor && (step < 0) == (point.step < 0);
}

/// The median of the values between two changes, in the unit.
void add_changes(History& made, const Candidate& candidate, double most_p, double most_worth) {
  MetricPast& metric = made.metrics[candidate.metric];
  const auto [levels, gpu, line] = series_of(made, candidate);
  // What a GPU does apart from the others is said beside what it gives in all.
  const double offset = candidate.apart ? levels.offset[gpu] : 0;
  const double floor = least_step(levels, made.options.floor);
  const Changes found = change_points(line.values, floor, most_p, most_worth, line.releases);
  const Line own =
      candidate.apart ? line_of(made.chronicle, levels, gpu, false) : Line{};  // of the same nights
  if (found.drifts) metric.judged = Judged::drifting;
  for (const ChangePoint& point : found.points) {
    if (candidate.apart && !is_its_own(own.values, point, floor)) continue;
    const std::size_t at = point.at;
    double from = median_of(line.values, point.first, at) + offset;
    if (candidate.apart) {
      const auto where = std::ranges::find(levels.launches, line.first[at]);
      from += levels.typical[static_cast<std::size_t>(where - levels.launches.begin())];
    }
    metric.changes.push_back(made.changes.size());
    made.changes.push_back({.metric = candidate.metric,
                            .gpu = candidate.gpu,
                            .apart = candidate.apart,
                            .before = line.last[at - 1],
                            .after = line.first[at],
                            .step = point.step,
                            .from = std::exp(from),
                            .to = std::exp(from + point.step),
                            .p = point.p});
  }
}

void judge_metrics(History& made) {
  for (const std::vector<Candidate>& family : candidates_of(made)) {
    std::vector<double> p;
    for (const Candidate& candidate : family) {
      MetricPast& metric = made.metrics[candidate.metric];
      if (metric.judged == Judged::too_short) metric.judged = Judged::steady;
      p.push_back(candidate.p);
    }
    const double most_p = discovery_threshold(p, made.options.discovery);
    const double worth = common_worth(made, family, most_p);
    for (const Candidate& candidate : family) {
      if (candidate.p <= most_p) add_changes(made, candidate, most_p, worth);
    }
  }
  for (MetricPast& metric : made.metrics) {
    if (!metric.changes.empty()) metric.judged = Judged::changed;
  }
}

/// Of each GPU and of the fleet. A launch that could not read a factor, of one of the GPUs, is
/// passed over: the next one is compared with the last known value.
void add_releases(History& made) {
  Chronicle& all = made.chronicle;
  std::map<std::tuple<bool, std::uint32_t, std::string>, std::string> known;
  for (std::uint32_t i = 0; i < all.launches.size(); ++i) {
    const PastLaunch& launch = all.launches[i];
    std::vector<std::uint32_t> gpus = launch.gpus;
    gpus.push_back(kNoRow);
    std::vector<SetupChange> setup;
    for (const std::uint32_t gpu : gpus) {
      setup.clear();
      for (const std::string_view name : kReleaseFactors) {
        const std::string factor(name), now = setup_value(all, i, factor, gpu);
        if (now.empty() || now.starts_with("unknown") || made.restless.contains(factor)) continue;
        const std::string old = std::exchange(known[{launch.is_virtual, gpu, factor}], now);
        if (!old.empty() && old != now) setup.push_back({factor, old, now});
      }
      std::vector<std::uint32_t>& releases = all.releases[gpu];
      if (!setup.empty()) releases.push_back(i);
    }
    if (launch.previous == kNoRow) continue;
    // Each GPU has a series of its own, and of the typical one a few are no other fleet.
    for (SetupChange& change : setup_changes(all, made.restless, launch.previous, i)) {
      if (change.factor == "gpu") setup.push_back(std::move(change));
    }
    if (!setup.empty()) made.releases.push_back({launch.previous, i, std::move(setup)});
  }
}

void add_events(History& made) {
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::vector<std::size_t>> found;
  for (std::size_t i = 0; i < made.changes.size(); ++i) {
    const LevelChange& change = made.changes[i];
    found[{change.after, change.before, change.gpu}].push_back(i);
  }
  for (auto& [key, changes] : found) {
    const auto& [after, before, gpu] = key;
    std::ranges::stable_sort(changes, std::greater{},
                             [&](std::size_t i) { return std::abs(made.changes[i].step); });
    made.events.push_back(
        {.before = before,
         .after = after,
         .gpu = gpu,
         .changes = changes,
         .setup = setup_changes(made.chronicle, made.restless, before, after, gpu)});
  }
  std::ranges::stable_sort(made.events, std::greater{}, &ChangeEvent::after);
}

}  // namespace

History history_of(Chronicle all, const HistoryOptions& options) {
  History made;
  made.chronicle = std::move(all);
  made.options = options;
  sort_by_time(made.chronicle);
  miss_lost_numbers(made.chronicle);
  made.restless = restless_factors(made.chronicle);
  for (const auto& [key, values] : made.chronicle.metrics) {
    made.metrics.push_back({.key = key, .values = &values});
  }
  add_releases(made);
  judge_metrics(made);
  add_events(made);
  made.cases = case_pasts(made);
  return made;
}

std::string_view name_of(Judged judged) {
  static constexpr std::array<std::string_view, 4> kNames = {"too short", "steady", "drifting",
                                                             "changed"};
  return kNames.at(static_cast<std::size_t>(judged));
}

std::string title_of(const MetricKey& key) {
  std::string made = fmt::format("{} {} ({}", key.case_name, key.metric, key.level);
  if (key.gpus > 0) made += fmt::format(", {} GPU{}", key.gpus, key.gpus == 1 ? "" : "s");
  return made + (key.is_virtual ? ", VIRTUAL)" : ")");
}

}  // namespace tidemark
