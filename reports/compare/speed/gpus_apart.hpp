// GPUs that changed unlike the others of their series, where those are enough to tell.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "reports/compare/speed/series.hpp"
#include "reports/compare/speed/speed.hpp"

namespace tidemark {

/// GPUs of one metric that changed, a finding for each verdict.
class GpusByVerdict {
 public:
  /// In ascending order of GPUs.
  void add(SpeedVerdict verdict, std::uint32_t gpu, const GpuChange& change);
  void move_to(std::vector<GpuFinding>& made, std::uint32_t of_case, const std::string& metric,
               bool alone);

 private:
  std::map<SpeedVerdict, GpuFinding> found_;
};

struct GpusApart {
  std::vector<GpuFinding> findings;
  std::vector<UnsteadyGpu> unsteady;
  std::vector<std::vector<bool>> left_out;  // of the mean: by series, and its GPUs
};

/// Series of fewer than kFewestGpus have no finding here.
GpusApart gpus_apart(const std::vector<Series>& all, const SpeedPolicy& policy);

}  // namespace tidemark
