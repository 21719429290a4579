// Reads many changed reports in worker processes, and says of each worker that died where.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ci/lab/fuzz/mutate.hpp"

namespace tidemark {

struct CampaignOptions {
  std::uint64_t first = 0;  // number of the first change
  std::uint64_t executions = 0;
  double seconds = 0;     // 0: until all executions are done
  bool confined = false;  // each by read_report, from a file: a process each
};

/// Deaths at one place: a library and an offset in it.
struct Death {
  std::uint64_t times = 0;
  std::uint64_t first = 0;  // number of the change that showed it
};

struct CampaignResult {
  std::uint64_t executions = 0, read = 0, refused = 0, out_of_memory = 0;
  std::uint64_t contained = 0;               // refused because the process that read it died
  std::uint64_t ways_of_refusal = 0;         // distinct lines, numbers left out; at least
  std::map<std::string, Death> hdf5_deaths;  // by place
  std::map<std::string, Death> own_deaths;   // by place; and errors that are no ReportError
  double seconds = 0;
};

/// Runs it. Dead workers are counted and replaced.
CampaignResult run_campaign(const std::vector<Seed>& seeds, const CampaignOptions& options);

}  // namespace tidemark
