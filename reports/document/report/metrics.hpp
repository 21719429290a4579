// What was measured: a table for each benchmark with a line a GPU, or one over all of them; plots.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "reports/base/statistics.hpp"
#include "reports/store/report.hpp"

namespace tidemark::reports {

/// One metric of one case on all GPUs.
struct Measured {
  std::string_view name, unit;
  bool higher_is_better = true;
  std::vector<const MetricRow*> rows;  // in the order of GPUs
};

/// The metrics of each case, both in the order they stand in the report.
std::map<std::uint32_t, std::vector<Measured>> measured_of(const Report& report);

/// Those whose result passed: no other number counts.
std::vector<const MetricRow*> counted_of(const Report& report, const Measured& measured);

/// The rate a job sees that waits for its slowest rank: sample by sample the worst of all GPUs.
Statistics slowest_of(const Report& report, const Measured& measured);

}  // namespace tidemark::reports
