// GPUs that lie apart from the others of one report: no base is needed, the fleet is its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/compare/launch_facts.hpp"

namespace tidemark {

/// GPUs of one model, or nodes, below which none can be said to lie apart.
inline constexpr std::size_t kFewestPeers = 8;

struct OutlierPolicy {
  double floor = 0.01;  // least distance that matters, natural logarithm
  // Benjamini-Hochberg. Over all GPUs of all metrics, where there are many that it could be:
  double false_discovery = 0.01;
  // Over nodes, and over GPUs in all metrics together, of which there are few:
  double coarse_false_discovery = 0.02;
};

/// GPUs that lie apart on the same side in the same metrics.
struct OutlierGroup {
  std::string place;                 // "node n17, all 8 GPUs"
  std::vector<std::uint32_t> gpus;   // gpu_id, ascending
  std::vector<std::string> metrics;  // "<case>/<metric>"; of several metrics together: empty
  bool slower = true;
  double median = 0, least = 0, most = 0;  // distances, natural logarithm; below 0 for slower
  double z = 0;                            // the greatest, in robust standard deviations
};

struct Outliers {
  std::vector<OutlierGroup> groups;   // the most GPUs first, then the farthest
  std::size_t metrics = 0, gpus = 0;  // that were looked at
};

/// Robust z: the distance of a GPU's logarithm from the median of its model over 1.4826 times the
/// median absolute deviation, that one drawn towards what other metrics have, as t of the few
/// degrees of freedom such a deviation has.
Outliers outliers_of(const LaunchFacts& facts, const OutlierPolicy& policy = {});

/// "SLOWER than the other GPUs: node n17, all 8 GPUs, 3 metrics: ..." in one line.
std::string text_of(const OutlierGroup& group);

}  // namespace tidemark
