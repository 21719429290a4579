// A GPU against the others, or against its own past where there are fewer than kFewestGpus.
#include "reports/compare/speed/gpus.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "reports/base/statistics.hpp"

namespace tidemark {
namespace {

/// Times what the GPU differs by from launch to launch, and what the change of the others does:
/// farther off it is named in a single metric. A fixed bound: thousands of them name none by
/// chance.
constexpr double kFarSpreads = 8;

/// One metric; `own`: each GPU less its mean over the launches, and of kFewestGpus or more less
/// what those of a launch share.
struct Metric {
  const Series* series = nullptr;
  std::vector<double> means = {};    // by GPU, over the launches
  LaunchMatrix own{0, 0, 0};         // GPUs x launches
  std::vector<Effect> changes = {};  // of `own`
  double spread = 0;                 // of these, robust; 0 of few GPUs
};

std::vector<double> sizes_of(const std::vector<Effect>& effects) {
  std::vector<double> made;
  made.reserve(effects.size());
  for (const Effect& one : effects) made.push_back(one.effect);
  return made;
}

double spread_of(const std::vector<Effect>& changes) {
  const Statistics of = statistics_of(sizes_of(changes));
  const auto n = static_cast<double>(of.finite);
  return of.finite < kFewestGpus ? 0 : kMadToSd * of.mad * n / (n - 0.8);  // of few it is too small
}

void take_off_common(LaunchMatrix& own) {
  for (std::size_t launch = 0; launch < own.launches; ++launch) {
    std::vector<double> column;
    column.reserve(own.rows);
    for (std::size_t gpu = 0; gpu < own.rows; ++gpu) column.push_back(own.at(gpu, launch));
    const double common = statistics_of(std::move(column)).median;
    for (std::size_t gpu = 0; gpu < own.rows; ++gpu) own.at(gpu, launch) -= common;
  }
}

Metric metric_of(const Series& series) {
  Metric made{.series = &series, .own = series.goodness};
  for (std::size_t gpu = 0; gpu < made.own.rows; ++gpu) {
    const std::span<const double> row = series.goodness.row(gpu);
    made.means.push_back(statistics_of({row.begin(), row.end()}).mean);
    for (std::size_t i = 0; i < made.own.launches; ++i) made.own.at(gpu, i) -= made.means[gpu];
  }
  if (made.own.rows >= kFewestGpus) take_off_common(made.own);
  for (std::size_t gpu = 0; gpu < made.own.rows; ++gpu)
    made.changes.push_back(plain_effect(made.own.row(gpu), made.own.base));
  made.spread = spread_of(made.changes);
  return made;
}

/// Of one GPU by launch: the median over its metrics.
struct Figures {
  std::vector<std::uint32_t> gpus = {};   // the pairing's indices
  std::vector<std::size_t> metrics = {};  // by GPU: so many
  LaunchMatrix total{0, 0, 0}, own{0, 0, 0};
};

/// Counts are no part of it: they are the same on a GPU that is slow.
Figures figures_of(const std::vector<Metric>& all, const Pairing& pairing) {
  std::map<std::uint32_t, std::vector<std::pair<const Metric*, std::size_t>>> rows;
  for (const Metric& metric : all) {
    if (is_count(metric.series->unit)) continue;
    for (std::size_t i = 0; i < metric.changes.size(); ++i)
      if (metric.changes[i].base > 0 && metric.changes[i].fresh > 0)
        rows[metric.series->gpus[i]].emplace_back(&metric, i);
  }
  Figures made;
  made.total = made.own = LaunchMatrix(rows.size(), pairing.launches.size(), pairing.base);
  for (const auto& [gpu, metrics] : rows) {
    for (std::size_t i = 0; i < made.own.launches; ++i) {
      std::vector<double> total, own;
      for (const auto& [metric, row] : metrics) {
        total.push_back(metric->series->goodness.at(row, i) - metric->means[row]);
        own.push_back(metric->own.at(row, i));
      }
      made.total.at(made.gpus.size(), i) = statistics_of(std::move(total)).median;
      made.own.at(made.gpus.size(), i) = statistics_of(std::move(own)).median;
    }
    made.gpus.push_back(gpu);
    made.metrics.push_back(metrics.size());
  }
  return made;
}

/// With one launch a side the GPUs alone say how far one lies off by chance.
void test_against_others(std::vector<Effect>& figures) {
  for (Effect& one : figures) one.p = one.q = 1;
  for (const FarValue& far : far_values(sizes_of(figures), {}, kFarAlpha, 0))
    figures[far.at].p = figures[far.at].q = far.p;
}

std::vector<Effect> effects_of(const Figures& figures) {
  std::vector<Effect> made = moderated_effects(figures.own).rows;
  const bool single = figures.own.launches == 2 && figures.own.base == 1;
  if (single) test_against_others(made);
  return made;
}

/// A GPU is slower or faster than the others by its own change, and than before by what that comes
/// to: where most GPUs are slower, those that did not change are no improvement. What noise of all
/// GPUs may hide stays a regression, and is no improvement.
SpeedVerdict in_view_of_all(SpeedVerdict own, const Effect& effect, double total, double floor) {
  const double size = own == SpeedVerdict::regressed ? -total : total;
  const bool may_be = own == SpeedVerdict::regressed && size + effect.margin() > floor;
  if (size > floor || may_be) return own;
  return std::abs(total) <= floor ? SpeedVerdict::same : SpeedVerdict::with_all;
}

/// Changes of one metric, or of all together.
class GpusByVerdict {
 public:
  /// `mean`: of all GPUs, of which few have nothing taken off: one that changed as they did is no
  /// finding of its own. False where it is none.
  bool add(SpeedVerdict verdict, std::uint32_t gpu, const GpuChange& change, double mean, bool few,
           double floor) {
    const double sign = verdict == SpeedVerdict::regressed ? -1 : 1;
    if (few && sign * (change.own.effect - mean) <= floor) return false;
    if (!few) verdict = in_view_of_all(verdict, change.own, change.total, floor);
    GpuFinding& finding = found_[verdict];
    finding.gpus.push_back(gpu);
    finding.changes.push_back(change);
    finding.alone = few;
    return true;
  }
  void move_to(std::vector<GpuFinding>& made, std::uint32_t of_case, const std::string& metric) {
    for (auto& [verdict, finding] : found_) {
      finding.of_case = of_case;
      finding.metric = metric;
      finding.verdict = verdict;
      made.push_back(std::move(finding));
    }
  }

 private:
  std::map<SpeedVerdict, GpuFinding> found_;
};

double total_of(const LaunchMatrix& total, std::size_t row) {
  return plain_effect(total.row(row), total.base).effect;
}

/// By GPU of the pairing: what it changed by in all metrics.
using Named = std::map<std::uint32_t, double>;

Named judge_figures(GpuJudgment& made, const Figures& figures, const SpeedPolicy& policy) {
  Named named;
  const std::vector<Effect> effects = effects_of(figures);
  const bool few = effects.size() < kFewestGpus;
  constexpr double kFifth = 0.2;  // of one of few its past alone says what it differs by
  const double mean = statistics_of(sizes_of(effects)).mean;
  const double alpha = (few ? kFifth : 1) * policy.false_discovery;
  GpusByVerdict found;
  for (std::size_t i = 0; i < effects.size() && effects.size() > 1; ++i) {
    const Effect& effect = effects[i];
    if (std::isnan(effect.q) || !(std::abs(effect.effect) >= policy.floor)) continue;
    const GpuChange change{.total = total_of(figures.total, i), .own = effect};
    const SpeedVerdict verdict = judge_effect(effect, policy.floor, alpha, is_few(effect));
    const double least = kFewLaunchesFloors * policy.floor;
    if (is_change(verdict)) {
      if (found.add(verdict, figures.gpus[i], change, mean, few, policy.floor))
        named[figures.gpus[i]] = effect.effect;
    } else if (!is_few(effect) && -effect.effect >= least && -change.total >= least) {
      made.unsteady.push_back(
          {.gpu = figures.gpus[i], .metrics = figures.metrics[i], .loss = -change.total});
    }
  }
  found.move_to(made.findings, kAllMetrics, "");
  return named;
}

/// GPUs far off in one metric, beyond what they are in all. `pooled`: the median spread of metrics.
std::vector<bool> judge_metric(GpuJudgment& made, const Metric& metric, const Named& named,
                               double pooled) {
  const Series& series = *metric.series;
  std::vector<bool> far(series.gpus.size(), false);
  const bool few = series.gpus.size() < kFewestGpus;
  const double mean = statistics_of(sizes_of(metric.changes)).mean, floor = series.floor;
  GpusByVerdict found;
  for (std::size_t i = 0; i < far.size(); ++i) {
    const std::uint32_t gpu = series.gpus[i];
    const Effect& change = metric.changes[i];
    const bool in_all = named.contains(gpu) && !is_count(series.unit);
    const double own = change.effect - (in_all ? named.at(gpu) : 0);
    const double error = std::isnan(change.standard_error) ? 0 : change.standard_error;
    // How unlike each other the GPUs of the metric changed stands in for their own noise alone:
    // where half of them changed it would hide that.
    const double noise = few ? error : std::max(error > 0 ? error : metric.spread, pooled);
    const bool told = noise > 0 || !few;  // nothing says how far one of few lies off by chance
    const bool sure = std::min(change.base, change.fresh) >= kSureLaunches;
    const double least = std::max(kFarSpreads * noise, (sure ? 1 : kFewLaunchesFloors) * floor);
    if (!told || !(std::abs(own) >= least)) continue;
    far[i] = found.add(own < 0 ? SpeedVerdict::regressed : SpeedVerdict::improved, gpu,
                       {.total = total_of(series.goodness, i), .own = change}, mean, few, floor);
  }
  found.move_to(made.findings, series.of_case, series.metric);
  return far;
}

/// Of the mean: where most changed, they are the case, and the few that did not stay in it. One
/// that lacks a launch would move that launch's mean by what GPUs differ.
std::vector<bool> left_out_of(const Series& series, const Named& named, std::vector<bool> far) {
  for (std::size_t i = 0; i < far.size(); ++i) far[i] = far[i] || named.contains(series.gpus[i]);
  const auto most = 2 * std::ranges::count(far, true) >= static_cast<std::ptrdiff_t>(far.size());
  if (most || far.size() < kFewestGpus) far.assign(far.size(), false);
  for (std::size_t i = 0; i < far.size(); ++i) far[i] = far[i] || series.partial[i];
  return far;
}

}  // namespace

std::pair<double, double> GpuFinding::range() const {
  const auto [least, most] = std::ranges::minmax_element(changes, {}, &GpuChange::total);
  return {least->total, most->total};
}

GpuJudgment judge_gpus(const std::vector<Series>& all, const Pairing& pairing,
                       const SpeedPolicy& policy) {
  GpuJudgment made;
  std::vector<Metric> metrics;
  std::vector<double> spreads;
  for (const Series& series : all) {
    metrics.push_back(series.unfit.empty() ? metric_of(series) : Metric{.series = &series});
    if (metrics.back().spread > 0) spreads.push_back(metrics.back().spread);
  }
  const Named named = judge_figures(made, figures_of(metrics, pairing), policy);
  const double pooled = spreads.empty() ? 0 : median_of(std::move(spreads));
  for (const Metric& metric : metrics) {
    const Series& series = *metric.series;
    std::vector<bool> far(series.gpus.size(), false);
    if (!metric.changes.empty() && far.size() > 1) far = judge_metric(made, metric, named, pooled);
    made.left_out.push_back(left_out_of(series, named, std::move(far)));
  }
  return made;
}

}  // namespace tidemark
