// Judges every series of a chronicle; which GPUs are judged how depends on how many there are.
#include "reports/history/history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "reports/history/case_pasts.hpp"
#include "reports/history/change_points.hpp"
#include "reports/median.hpp"

namespace tidemark::reports {
namespace {

/// One series that is looked at: values, and the launches they are of.
struct Candidate {
  std::uint32_t metric = 0, gpu = kNoRow;
  bool apart = false;
  double p = 1;
};

struct Line {
  std::vector<double> values;
  std::vector<std::uint32_t> launches;
};

Line typical_line(const MetricLevels& levels) { return {levels.typical, levels.launches}; }

Line line_of(const MetricLevels& levels, std::size_t gpu, bool apart) {
  Line made;
  for (std::size_t i = 0; i < levels.launches.size(); ++i) {
    const double value = apart ? levels.apart(gpu, i) : levels.own[gpu][i];
    if (std::isnan(value)) continue;
    made.values.push_back(value);
    made.launches.push_back(levels.launches[i]);
  }
  return made;
}

bool lasts(const std::vector<double>& values) {
  const auto known =
      std::count_if(values.begin(), values.end(), [](double value) { return !std::isnan(value); });
  return static_cast<std::size_t>(known) >= kLeastSeries;
}

/// With three GPUs there is a typical one, and each is held against it; one or two stand for
/// themselves.
constexpr std::size_t kFewestForTypical = 3;

struct Lines {
  bool typical = false, apart = false;
  std::vector<std::size_t> gpus;  // judged one by one
};

Lines lines_of(const MetricLevels& levels) {
  Lines made;
  for (std::size_t gpu = 0; gpu < levels.gpus.size(); ++gpu) {
    if (lasts(levels.own[gpu])) made.gpus.push_back(gpu);
  }
  made.typical = levels.gpus.size() >= kFewestForTypical || made.gpus.empty();
  made.apart = made.gpus.size() >= kFewestForTypical;
  if (made.typical && !made.apart) made.gpus.clear();
  return made;
}

/// The typical GPUs and those that stand for themselves, and those held against a typical one: two
/// families, so that a fleet of a thousand GPUs does not hide what all of them do.
struct Families {
  std::vector<Candidate> level, apart;
};

Families candidates_of(const History& made) {
  Families found;
  for (std::uint32_t i = 0; i < made.metrics.size(); ++i) {
    const MetricLevels levels = levels_of(made.chronicle, *made.metrics[i].values);
    const Lines lines = lines_of(levels);
    const double floor = made.options.floor;
    if (lines.typical && levels.launches.size() >= kLeastSeries) {
      found.level.push_back({.metric = i, .p = strongest_change(levels.typical, floor)});
    }
    for (const std::size_t gpu : lines.gpus) {
      const double p = strongest_change(line_of(levels, gpu, lines.apart).values, floor);
      (lines.apart ? found.apart : found.level)
          .push_back({.metric = i, .gpu = levels.gpus[gpu], .apart = lines.apart, .p = p});
    }
  }
  return found;
}

/// The median of the values between two changes, in the unit.
void add_changes(History& made, const Candidate& candidate, double most_p) {
  MetricPast& metric = made.metrics[candidate.metric];
  const MetricLevels levels = levels_of(made.chronicle, *metric.values);
  const auto row = std::find(levels.gpus.begin(), levels.gpus.end(), candidate.gpu);
  const auto gpu = static_cast<std::size_t>(row - levels.gpus.begin());
  const Line line =
      candidate.gpu == kNoRow ? typical_line(levels) : line_of(levels, gpu, candidate.apart);
  // What a GPU does apart from the others is said beside what it gives in all.
  const double offset = candidate.apart ? levels.offset[gpu] : 0;
  const std::vector<ChangePoint> points = change_points(line.values, made.options.floor, most_p);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::size_t at = points[i].at, first = i == 0 ? 0 : points[i - 1].at;
    const std::vector<double> old(line.values.begin() + static_cast<std::ptrdiff_t>(first),
                                  line.values.begin() + static_cast<std::ptrdiff_t>(at));
    double from = median_of(old) + offset;
    if (candidate.apart) {
      const auto where =
          std::find(levels.launches.begin(), levels.launches.end(), line.launches[at]);
      from += levels.typical[static_cast<std::size_t>(where - levels.launches.begin())];
    }
    metric.changes.push_back(made.changes.size());
    made.changes.push_back({.metric = candidate.metric,
                            .gpu = candidate.gpu,
                            .apart = candidate.apart,
                            .before = line.launches[at - 1],
                            .after = line.launches[at],
                            .step = points[i].step,
                            .from = std::exp(from),
                            .to = std::exp(from + points[i].step),
                            .p = points[i].p});
  }
}

void judge_metrics(History& made) {
  const Families families = candidates_of(made);
  for (const std::vector<Candidate>* const family : {&families.level, &families.apart}) {
    std::vector<double> p;
    for (const Candidate& candidate : *family) {
      made.metrics[candidate.metric].judged = Judged::steady;
      p.push_back(candidate.p);
    }
    const double most_p = discovery_threshold(p, made.options.discovery);
    for (const Candidate& candidate : *family) {
      if (candidate.p <= most_p) add_changes(made, candidate, most_p);
    }
  }
  for (MetricPast& metric : made.metrics) {
    if (!metric.changes.empty()) metric.judged = Judged::changed;
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
    std::stable_sort(changes.begin(), changes.end(), [&](std::size_t a, std::size_t b) {
      return std::abs(made.changes[a].step) > std::abs(made.changes[b].step);
    });
    made.events.push_back(
        {.before = before,
         .after = after,
         .gpu = gpu,
         .changes = changes,
         .setup = setup_changes(made.chronicle, made.restless, before, after, gpu)});
  }
  std::stable_sort(made.events.begin(), made.events.end(),
                   [](const auto& a, const auto& b) { return a.after > b.after; });
}

}  // namespace

History history_of(Chronicle all, const HistoryOptions& options) {
  History made;
  made.chronicle = std::move(all);
  made.options = options;
  sort_by_time(made.chronicle);
  made.restless = restless_factors(made.chronicle);
  for (const auto& [key, values] : made.chronicle.metrics) {
    made.metrics.push_back({.key = key, .values = &values, .changes = {}});
  }
  judge_metrics(made);
  add_events(made);
  made.cases = case_pasts(made);
  return made;
}

std::string_view name_of(Judged judged) {
  switch (judged) {
    case Judged::too_short:
      return "too short";
    case Judged::steady:
      return "steady";
    case Judged::changed:
      break;
  }
  return "changed";
}

std::string title_of(const MetricKey& key) {
  std::string made = fmt::format("{} {} ({}", key.case_name, key.metric, key.level);
  if (key.gpus > 0) made += fmt::format(", {} GPU{}", key.gpus, key.gpus == 1 ? "" : "s");
  return made + (key.is_virtual ? ", VIRTUAL)" : ")");
}

}  // namespace tidemark::reports
