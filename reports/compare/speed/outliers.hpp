// GPUs that lie apart from the others of one report: no base is needed, the fleet is its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/compare/launch_facts.hpp"

namespace tidemark {

/// GPUs of one model, or nodes, below which none can be said to lie apart in all metrics together,
/// and in a single one: of four GPUs on a board three are often close in one by chance.
inline constexpr std::size_t kFewestPeers = 3, kFewestInOneMetric = 8;

struct OutlierPolicy {
  double floor = 0.01;  // least distance that matters, natural logarithm
  double alpha = 0.01;  // chance of any false one: over all metrics together, and over single ones
};

/// GPUs that lie apart on the same side in the same metrics.
struct OutlierGroup {
  std::string place = {};                 // "node n17, all 8 GPUs"
  std::vector<std::uint32_t> gpus = {};   // gpu_id, ascending
  std::vector<std::string> metrics = {};  // "<case>/<metric>"; of several metrics together: empty
  bool slower = true;
  double median = 0, least = 0, most = 0;  // distances, natural logarithm; below 0 for slower
  double z = 0;                            // the greatest, in robust standard deviations
};

struct Outliers {
  std::vector<OutlierGroup> groups;   // the most GPUs first, then the farthest
  std::size_t metrics = 0, gpus = 0;  // that were looked at
};

/// First over all metrics together, a figure a GPU and node: the median of its distances from the
/// median of its model; then in single metrics, beyond that figure. Far is far_values().
Outliers outliers_of(const LaunchFacts& facts, const OutlierPolicy& policy = {});

/// Those of a report; none where a GPU or a case stands there twice.
Outliers outliers_of(const Report& report);

/// text_of() each group that is slower.
std::vector<std::string> slower_outliers(const Report& report);

/// "SLOWER than the other GPUs: node n17, all 8 GPUs, 3 metrics: ..." in one line.
std::string text_of(const OutlierGroup& group);

}  // namespace tidemark
