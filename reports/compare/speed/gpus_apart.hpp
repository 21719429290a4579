// GPUs that changed unlike the others of their series, where those are enough to tell.
#pragma once

#include <vector>

#include "reports/compare/speed/series.hpp"
#include "reports/compare/speed/speed.hpp"

namespace tidemark::reports {

struct GpusApart {
  std::vector<GpuFinding> findings;
  std::vector<UnsteadyGpu> unsteady;
  std::vector<std::vector<bool>> left_out;  // of the mean: by series, and its GPUs
};

/// Series of fewer than kFewestGpus have no finding here.
GpusApart gpus_apart(const std::vector<Series>& all, const SpeedPolicy& policy);

}  // namespace tidemark::reports
