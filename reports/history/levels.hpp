// One metric over its launches: the typical GPU, and each GPU against it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reports/history/chronicle.hpp"

namespace tidemark::reports {

/// Natural logarithms; NaN where a GPU has no value in a launch.
struct MetricLevels {
  std::vector<std::uint32_t> launches;   // in the order of time: index into Chronicle::launches
  std::vector<std::uint32_t> gpus;       // that have any value: index into Chronicle::gpus
  std::vector<std::vector<double>> own;  // [gpu][launch]: the value itself
  std::vector<double> typical;           // [launch]: what the launch did to the GPUs it had
  std::vector<double> offset;            // [gpu]: from the typical one, for good

  /// What a GPU did that the others did not.
  double apart(std::size_t gpu, std::size_t launch) const {
    return own[gpu][launch] - typical[launch] - offset[gpu];
  }
};

/// Splits values into launch and GPU by median polish (Tukey, Exploratory Data Analysis, 1977):
/// which GPUs a launch happened to have does not move its level, nor does one GPU that became slow.
/// Launches that share no GPU with others have the median over their GPUs.
MetricLevels levels_of(const Chronicle& all, std::span<const PastValues> values);

}  // namespace tidemark::reports
