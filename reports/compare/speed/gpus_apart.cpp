// A GPU against the others of its series, in each series.
#include "reports/compare/speed/gpus_apart.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "reports/base/statistics.hpp"

namespace tidemark {
namespace {

/// Every GPU of every series, judged against the other GPUs of its series: by series, empty where
/// there are too few GPUs.
using GpuEffects = std::vector<Effects>;

/// The few GPUs of one metric say nothing of how far one of them lies off by chance where each side
/// has one launch; those of all metrics of a unit do.
void test_untested(const std::vector<Series>& all, GpuEffects& made) {
  std::map<std::string_view, std::vector<Effect*>> by_unit;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (Effect& effect : made[i].rows)
      if (std::isnan(effect.p)) by_unit[all[i].unit].push_back(&effect);
  for (const auto& [unit, effects] : by_unit) test_single_launches(effects);
}

/// Benjamini-Hochberg over all GPUs of all series at once.
GpuEffects gpu_effects(const std::vector<Series>& all) {
  GpuEffects made;
  std::vector<double> p;
  for (const Series& series : all) {
    made.push_back(series.gpus.size() < kFewestGpus || !series.unfit.empty()
                       ? Effects{}
                       : moderated_effects(series.goodness));
  }
  test_untested(all, made);
  for (const Effects& effects : made)
    for (const Effect& effect : effects.rows) p.push_back(effect.p);
  const std::vector<double> q = false_discovery_rates(p);
  std::size_t at = 0;
  for (Effects& effects : made) {
    for (Effect& effect : effects.rows) effect.q = q[at++];
  }
  return made;
}

/// Which GPUs of a series changed unlike the others, by their verdict.
std::vector<SpeedVerdict> judge_gpus(const Series& series, const Effects& effects,
                                     const SpeedPolicy& policy) {
  std::vector<SpeedVerdict> made(series.gpus.size(), SpeedVerdict::not_compared);
  for (std::size_t i = 0; i < effects.rows.size(); ++i) {
    const Effect& effect = effects.rows[i];
    // Nearly all: whether they are the same or only may be is no question here, and dear to answer.
    if (!(std::abs(effect.effect) >= series.floor)) continue;
    if (std::isnan(effect.q)) continue;  // nothing says how far a GPU lies off by chance
    made[i] = judge_effect(effect, series.floor, policy.false_discovery, is_few(effect));
  }
  return made;
}

/// A GPU is slower or faster than the others by its own change, and than before by what that comes
/// to: where most GPUs are slower, those that did not change are no improvement. What noise of all
/// GPUs may hide stays a regression, and is no improvement.
SpeedVerdict in_view_of_all(SpeedVerdict own, const Effect& total, double floor) {
  const double size = own == SpeedVerdict::regressed ? -total.effect : total.effect;
  const bool may_be = own == SpeedVerdict::regressed && size + total.margin() > floor;
  if (size > floor || may_be) return own;
  return std::abs(total.effect) <= floor ? SpeedVerdict::same : SpeedVerdict::with_all;
}

void add_gpu_findings(GpusApart& made, const Series& series, const Effects& effects,
                      const std::vector<SpeedVerdict>& verdicts) {
  GpusByVerdict found;
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    if (verdicts[i] != SpeedVerdict::regressed && verdicts[i] != SpeedVerdict::improved) continue;
    const Effect in_all = effects.total_of(i);
    const SpeedVerdict verdict = in_view_of_all(verdicts[i], in_all, series.floor);
    found.add(verdict, series.gpus[i], {.total = in_all.effect, .own = effects.rows[i]});
  }
  found.move_to(made.findings, series.of_case, series.metric, false);
}

/// By GPU of the pairing, over all series.
using UnsteadyGpus = std::map<std::uint32_t, UnsteadyGpu>;

void note_unsteady(UnsteadyGpus& made, const Series& series, const Effects& effects,
                   const std::vector<SpeedVerdict>& verdicts) {
  const double least = kFewLaunchesFloors * series.floor;
  for (std::size_t i = 0; i < effects.rows.size(); ++i) {
    const Effect& effect = effects.rows[i];
    if (std::isnan(effect.q) || is_few(effect)) continue;
    UnsteadyGpu& gpu =
        made.try_emplace(series.gpus[i], UnsteadyGpu{.gpu = series.gpus[i]}).first->second;
    ++gpu.judged;
    const double loss = -effects.total_of(i).effect;
    if (verdicts[i] != SpeedVerdict::ambiguous || !(-effect.effect >= least && loss >= least))
      continue;
    gpu.least = gpu.metrics == 0 ? loss : std::min(gpu.least, loss);
    gpu.most = std::max(gpu.most, loss);
    ++gpu.metrics;
  }
}

std::vector<bool> left_out_of(const std::vector<SpeedVerdict>& verdicts) {
  std::vector<bool> made;
  made.reserve(verdicts.size());
  for (const SpeedVerdict verdict : verdicts) {
    made.push_back(verdict == SpeedVerdict::regressed || verdict == SpeedVerdict::improved);
  }
  return made;
}

}  // namespace

std::pair<double, double> GpuFinding::range() const {
  const auto [least, most] = std::ranges::minmax_element(changes, {}, &GpuChange::total);
  return {least->total, most->total};
}

void GpusByVerdict::add(SpeedVerdict verdict, std::uint32_t gpu, const GpuChange& change) {
  found_[verdict].gpus.push_back(gpu);
  found_[verdict].changes.push_back(change);
}

void GpusByVerdict::move_to(std::vector<GpuFinding>& made, std::uint32_t of_case,
                            const std::string& metric, bool alone) {
  for (auto& [verdict, finding] : found_) {
    finding.of_case = of_case;
    finding.metric = metric;
    finding.verdict = verdict;
    finding.alone = alone;
    made.push_back(std::move(finding));
  }
  found_.clear();
}

GpusApart gpus_apart(const std::vector<Series>& all, const SpeedPolicy& policy) {
  GpusApart made;
  const GpuEffects gpus = gpu_effects(all);
  UnsteadyGpus unsteady;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::vector<SpeedVerdict> verdicts = judge_gpus(all[i], gpus[i], policy);
    note_unsteady(unsteady, all[i], gpus[i], verdicts);
    std::vector<bool> left_out = left_out_of(verdicts);
    // Where most changed, they are the case, and the few that did not stay in its mean.
    if (2 * std::ranges::count(left_out, true) >= static_cast<std::ptrdiff_t>(left_out.size())) {
      left_out.assign(left_out.size(), false);
    }
    // A GPU that lacks a launch would move that launch's mean by what GPUs differ.
    for (std::size_t gpu = 0; gpu < left_out.size(); ++gpu) {
      if (all[i].partial[gpu]) left_out[gpu] = true;
    }
    add_gpu_findings(made, all[i], gpus[i], verdicts);
    made.left_out.push_back(std::move(left_out));
  }
  for (const auto& [number, gpu] : unsteady)
    if (2 * gpu.metrics > gpu.judged) made.unsteady.push_back(gpu);
  return made;
}

}  // namespace tidemark
