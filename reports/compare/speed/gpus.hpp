// GPUs that changed unlike the others: one figure a GPU over all its metrics, and beside it single
// metrics that lie far off.
#pragma once

#include <vector>

#include "reports/compare/speed/series.hpp"
#include "reports/compare/speed/speed.hpp"

namespace tidemark {

struct GpuJudgment {
  std::vector<GpuFinding> findings;
  std::vector<UnsteadyGpu> unsteady;
  std::vector<std::vector<bool>> left_out;  // of the mean: by series, and its GPUs
};

GpuJudgment judge_gpus(const std::vector<Series>& all, const Pairing& pairing,
                       const SpeedPolicy& policy);

}  // namespace tidemark
