// How much numbers differ between launches with no change between them, and which change could be
// seen against that.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "reports/compare/launch_facts.hpp"
#include "reports/compare/speed/speed.hpp"

namespace tidemark::reports {

/// Launches below which a spread is a guess.
inline constexpr std::size_t kFewestCalibrating = 3;

struct MetricNoise {
  std::string of_case, metric;
  std::size_t launches = 0, gpus = 0;  // that it comes from
  double spread = 0;     // standard deviation of a launch, natural logarithm; NaN where not known
  double smallest = 0;   // least effect that five launches a side would find 8 times of 10
  std::string why = {};  // why it is not known
};

/// One for each metric of any launch, by case and metric, by the estimator that compare uses: the
/// launch is the unit, the mean over the GPUs of the logarithms of their medians, what all metrics
/// of a launch share taken off. The launches must be of one fleet, whose GPUs pair by UUID or,
/// where `by` says so, by number.
std::vector<MetricNoise> noise_between(const std::vector<LaunchFacts>& launches, PairBy by);

/// Puts the known spreads into the report, as keys `noise.<case>/<metric>` of provenance, in the
/// place of any that were there.
void store_noise(Report& report, const std::vector<MetricNoise>& noise);

/// By "<case>/<metric>"; whatever is no number of at least 0 is left out.
std::map<std::string, double> stored_noise(const Report& report);

}  // namespace tidemark::reports
