// Metrics over launches: a line chart each, and a table of all.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "reports/base/statistics.hpp"
#include "reports/base/words.hpp"
#include "reports/document/history/document.hpp"

namespace tidemark {
namespace {

constexpr std::size_t kMostDots = 600;  // more are a band

ChartPoint point_at(const History& history, const MetricPast& metric, const MetricLevels& levels,
                    std::size_t i) {
  const PastLaunch& launch = history.chronicle.launches[levels.launches[i]];
  double low = std::numeric_limits<double>::quiet_NaN(), high = low;
  for (const std::vector<double>& own : levels.own) {
    low = std::fmin(low, own[i]);
    high = std::fmax(high, own[i]);
  }
  return {.unix_s = launch.at_unix_s,
          .typical = std::exp(levels.typical[i]),
          .low = std::exp(low),
          .high = std::exp(high),
          .label = fmt::format(
              "{}: {} {} (GPUs {} to {}), driver {}, git {}, {}{}", utc_text(launch.at_unix_s),
              short_number(std::exp(levels.typical[i])), metric.key.unit,
              short_number(std::exp(low)), short_number(std::exp(high)),
              setup_value(history.chronicle, levels.launches[i], "driver"),
              setup_value(history.chronicle, levels.launches[i], "git_hash"), launch.path,
              launch.incomplete_reason.empty() ? "" : ", INCOMPLETE REPORT"),
          .marked = !launch.incomplete_reason.empty()};
}

void add_dots(LineChart& chart, const History& history, const MetricLevels& levels) {
  for (std::size_t gpu = 0; gpu < levels.gpus.size(); ++gpu) {
    const std::string name = gpu_name(history, levels.gpus[gpu]);
    for (std::size_t i = 0; i < levels.launches.size(); ++i) {
      if (std::isnan(levels.own[gpu][i])) continue;
      const double value = std::exp(levels.own[gpu][i]);
      chart.dots.push_back(
          {.point = i,
           .value = value,
           .label = fmt::format("{}: {} {}", name, short_number(value), chart.unit)});
    }
  }
}

void add_rules(LineChart& chart, const History& history, const MetricPast& metric,
               const MetricLevels& levels) {
  for (const Release& release : history.releases) {
    const auto at = std::ranges::lower_bound(levels.launches, release.after);
    const bool other_device =
        history.chronicle.launches[release.after].is_virtual != metric.key.is_virtual;
    if (other_device || at == levels.launches.begin() || at == levels.launches.end()) continue;
    const auto point = static_cast<std::size_t>(at - levels.launches.begin());
    if (chart.rules.empty() || chart.rules.back().point != point)
      chart.rules.push_back({point, ""});
    std::string& label = chart.rules.back().label;
    label += (label.empty() ? "" : "; ") + setup_text(release.setup, 4);
  }
}

void add_marks(LineChart& chart, const History& history, const MetricPast& metric,
               const MetricLevels& levels) {
  std::vector<std::size_t> starts = {0};
  for (const ChartRule& rule : chart.rules) starts.push_back(rule.point);
  for (const std::size_t index : metric.changes) {
    const LevelChange& change = history.changes[index];
    const auto at = std::ranges::find(levels.launches, change.after);
    const auto point = static_cast<std::size_t>(at - levels.launches.begin());
    chart.marks.push_back(
        {.point = point,
         .value = change.to,
         .worse = change.is_worse(metric.key),
         .label = fmt::format(
             "{}: {}, {}, {}", utc_text(history.chronicle.launches[change.after].at_unix_s),
             step_text(change.step), levels_text(history, change), gpu_text(history, change))});
    if (change.gpu == kNoRow) starts.push_back(point);
  }
  if (starts.size() == 1) return;
  starts.push_back(levels.launches.size());
  std::ranges::sort(starts);
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
    chart.levels.push_back(
        {.first = starts[i],
         .last = starts[i + 1] - 1,
         .value = std::exp(median_of(levels.typical, starts[i], starts[i + 1]))});
  }
}

LineChart chart_of(const History& history, const MetricPast& metric) {
  const MetricLevels levels = levels_of(history.chronicle, *metric.values);
  LineChart made{.title = title_of(metric.key),
                 .unit = metric.key.unit,
                 .higher_is_better = metric.key.higher_is_better,
                 .band = levels.gpus.size() * levels.launches.size() > kMostDots};
  for (std::size_t i = 0; i < levels.launches.size(); ++i) {
    made.points.push_back(point_at(history, metric, levels, i));
  }
  if (!made.band) add_dots(made, history, levels);
  add_rules(made, history, metric, levels);
  add_marks(made, history, metric, levels);
  return made;
}

std::vector<Cell> row_of(const History& history, const MetricPast& metric, bool page) {
  const MetricLevels levels = levels_of(history.chronicle, *metric.values);
  const double first = std::exp(levels.typical.front()), last = std::exp(levels.typical.back());
  const double step = levels.typical.back() - levels.typical.front();
  const bool good = (last > first) == metric.key.higher_is_better;
  std::vector<Cell> made = {
      code_cell(metric.key.case_name),
      text_cell(metric.key.metric),
      text_cell(metric.key.is_virtual ? metric.key.level + ", VIRTUAL" : metric.key.level),
      count_cell(levels.launches.size()),
      count_cell(levels.gpus.size()),
      number_cell(first),
      number_cell(last),
      {.text = step_text(step), .order = std::expm1(step), .tone = good ? Tone::good : Tone::quiet},
      text_cell(metric.key.unit),
      text_cell(name_of(metric.judged))};
  if (!page) return made;
  std::string changes;
  for (const std::size_t index : metric.changes) {
    const LevelChange& change = history.changes[index];
    changes += fmt::format("{}{} {} ({})", changes.empty() ? "" : "; ", when(history, change.after),
                           step_text(change.step), gpu_text(history, change));
  }
  made.push_back(text_cell(changes));
  return made;
}

/// `page`: with its changes.
TextTable table_of(const History& history, const std::vector<const MetricPast*>& metrics,
                   bool page) {
  TextTable made{.id = "every-metric",
                 .label = "every metric",
                 .columns = headings({"case", "metric", "level", ">launches", ">GPUs", ">first",
                                      ">last", ">last to first", "unit", "judged"})};
  if (page) made.columns.push_back({"changes"});
  for (const MetricPast* metric : metrics) made.rows.push_back(row_of(history, *metric, page));
  return made;
}

/// What changed first, by its largest step; the others as they are.
std::vector<const MetricPast*> in_order(const History& history) {
  std::vector<const MetricPast*> made;
  for (const MetricPast& metric : history.metrics) made.push_back(&metric);
  const auto largest = [&](const MetricPast* metric) {
    double step = 0;
    for (const std::size_t index : metric->changes) {
      step = std::max(step, std::abs(history.changes[index].step));
    }
    return step;
  };
  std::ranges::stable_sort(made, std::greater{}, largest);
  return made;
}

}  // namespace

Section metrics_of(const History& history, const ShowOptions& options) {
  Section made{.id = "speed",
               .heading = "Speed",
               .link = "speed",
               .bytes = 16'000,
               .readers = kNotAtTerminal};
  const std::vector<const MetricPast*> order = in_order(history);
  if (order.empty()) {
    made.add(Line{.as = Line::As::paragraph, .text = {"Nothing was measured in these launches."}},
             kOnPage);
    return made;
  }
  made.add(Line{.as = Line::As::muted,
                .text = {"The line is the typical GPU of each launch, a grey dot a GPU, or a "
                         "band all of them; a dashed line a level, a triangle a change of it, an "
                         "upright line another driver, GPU or suite; a hollow dot a launch that "
                         "ended early."}},
           kOnPage);
  const auto chart = [&history, order](std::size_t i) { return chart_of(history, *order[i]); };
  made.add(List{order.size(), {.page = 60}, "chart", chart}, kOnPage);
  made.add(Subheading{"Every metric"}, kOnPage);
  const std::size_t shown = std::min(options.most(3000), order.size());
  // A list of one: levels of years take a while, and only the reader of a table waits for it.
  const auto add = [&](bool page, std::size_t most, Readers readers) {
    auto some = order;
    some.resize(most);
    const auto table = [&history, page, some](std::size_t) {
      return table_of(history, some, page);
    };
    made.add(List{.size = 1, .block = table}, readers);
  };
  add(true, shown, kOnPage);
  made.leave_out(order.size(), shown, "metric", kOnPage);
  add(false, order.size(), kInReview);
  return made;
}

}  // namespace tidemark
