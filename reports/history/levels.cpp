// Median polish of a table with holes.
#include "reports/history/levels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "reports/base/statistics.hpp"

namespace tidemark::reports {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

void fill(MetricLevels& made, const Chronicle& all, std::span<const PastValues> values) {
  std::map<std::uint32_t, std::size_t> rows;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::vector<std::uint32_t>& gpus = all.launches[values[i].launch].gpus;
    made.launches.push_back(values[i].launch);
    for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu) {
      const auto value = static_cast<double>(values[i].medians[gpu]);
      if (std::isnan(value)) continue;
      const auto [at, fresh] = rows.try_emplace(gpus[gpu], made.gpus.size());
      if (fresh) {
        made.gpus.push_back(gpus[gpu]);
        made.own.emplace_back(values.size(), kNaN);
      }
      made.own[at->second][i] = std::log(value);
    }
  }
}

void polish_launches(MetricLevels& made) {
  std::vector<double> column;
  for (std::size_t launch = 0; launch < made.launches.size(); ++launch) {
    column.clear();
    for (std::size_t gpu = 0; gpu < made.gpus.size(); ++gpu) {
      const double value = made.own[gpu][launch];
      if (!std::isnan(value)) column.push_back(value - made.offset[gpu]);
    }
    made.typical[launch] = median_of(column);
  }
}

void polish_gpus(MetricLevels& made) {
  std::vector<double> row;
  for (std::size_t gpu = 0; gpu < made.gpus.size(); ++gpu) {
    row.clear();
    for (std::size_t launch = 0; launch < made.launches.size(); ++launch) {
      const double value = made.own[gpu][launch];
      if (!std::isnan(value)) row.push_back(value - made.typical[launch]);
    }
    made.offset[gpu] = median_of(row);
  }
}

}  // namespace

MetricLevels levels_of(const Chronicle& all, std::span<const PastValues> values) {
  MetricLevels made;
  fill(made, all, values);
  made.typical.assign(made.launches.size(), 0);
  made.offset.assign(made.gpus.size(), 0);
  constexpr int kRounds = 4;  // Tukey's own advice is two; holes want some more
  for (int round = 0; round < kRounds; ++round) {
    polish_launches(made);
    polish_gpus(made);
  }
  polish_launches(made);
  // The typical GPU has the offset that the median of them has.
  std::vector<double> offsets = made.offset;
  const double middle = median_of(offsets);
  for (double& offset : made.offset) offset -= middle;
  for (double& level : made.typical) level += middle;
  return made;
}

}  // namespace tidemark::reports
