// Launches of a small fleet, one a night, for the tests of history.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "reports/history/history.hpp"
#include "reports/testing/hostile_report.hpp"

namespace tidemark {

/// Night `number` of a fleet with one metric, a value a GPU; everything passes.
inline LaunchFacts night(std::uint32_t number, const std::vector<double>& medians,
                         const std::string& driver = "580.1") {
  LaunchFacts made;
  made.path = fmt::format("night-{}.h5", number);
  made.launch.run_id = fmt::format("run-{}", number);
  made.launch.created_unix_s = 1788220800 + 86400.0 * number;  // 2026-09-01 and later
  made.launch.level = "nightly";
  made.launch.device = "cuda";
  made.launch.complete = true;
  made.factors = {{"git_hash", "abc"}, {"seed", fmt::format("{}", number)}};
  for (std::uint32_t gpu = 0; gpu < medians.size(); ++gpu) {
    std::vector<std::string> values(gpu_factor_names().size());
    values[0] = driver;
    made.gpus.push_back({.uuid = fmt::format("GPU-{}", gpu),
                         .node = "n07",
                         .boot = "boot",
                         .number = gpu,
                         .values = values});
  }
  made.cases = {"gemm.local.speed"};
  made.over_all_gpus = {false};
  made.verdicts.assign(medians.size(), Verdict::pass);
  made.descriptors.assign(medians.size(), 0);
  made.rows.assign(medians.size(), 10);
  made.series = {{.of_case = 0,
                  .name = "rate",
                  .unit = "TFLOP/s",
                  .higher_is_better = true,
                  .medians = medians}};
  return made;
}

/// A little noise that is always the same: from -1 to 1.
inline double wobble(std::uint32_t number) {
  const double drawn = std::sin(12.9898 * (number + 1)) * 43758.5453;
  return 2 * (drawn - std::floor(drawn)) - 1;
}

/// Four GPUs around 600 TFLOP/s over `nights`; from night `step` on, another driver and `times` the
/// speed.
inline Chronicle step_chronicle(std::uint32_t nights, std::uint32_t step, double times) {
  Chronicle made;
  for (std::uint32_t i = 0; i < nights; ++i) {
    const double level = (600 + 0.2 * wobble(i)) * (i >= step ? times : 1);
    record_launch(
        made, night(i, {level, level + 2, level - 3, level + 1}, i >= step ? "590.1" : "580.1"));
  }
  return made;
}

/// Every text of every launch is hostile; all metrics halve.
inline History hostile_history() {
  Chronicle all;
  for (std::uint32_t i = 0; i < 8; ++i) {
    Report report = hostile_report();
    report.launch.run_id += fmt::format("{}", i);
    report.launch.created_unix_s += i;
    for (MetricRow& metric : report.metrics) metric.median *= i < 4 ? 1 : 0.5;
    record_launch(all, facts_of(report, kHostileText + fmt::format("{}", i)));
  }
  return history_of(std::move(all), {});
}

}  // namespace tidemark
