// Run-to-run noise, as stored and as expected where nothing is stored.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "reports/compare/launch_facts.hpp"
#include "reports/compare/speed/moderated.hpp"
#include "reports/compare/speed/speed.hpp"

namespace tidemark::reports {

// How much numbers differ between launches with no change between them, and which change could be
// seen against that.

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

// What metrics say of each other's noise: the variance that a metric's own is drawn towards.

/// What the other rows say of the variance of one, and how many degrees of freedom that is worth;
/// NaN where they say nothing.
struct Prior {
  double variance = std::numeric_limits<double>::quiet_NaN(), degrees = kPriorDegrees;
};

/// Of rows with one launch a side, which say nothing of their own noise: by how far their effects
/// lie from each other. NaN of fewer than kFewestRowsForWeights. `many_change`: up to a fifth may
/// have changed, as all metrics of one GPU of five; else a tenth.
Prior scatter_of(const std::vector<const Effect*>& rows, bool many_change);

/// By row: that of its kind (RowFacts::kind; empty: one kind), or of all rows where its kind has
/// too few. `rows` with the spreads of their own; exact rows and the others say nothing of each
/// other.
std::vector<Prior> priors_of(const std::vector<Effect>& rows, const std::vector<bool>& exact,
                             const std::vector<std::uint32_t>& kind);

}  // namespace tidemark::reports
