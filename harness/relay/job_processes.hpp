// The processes of MPI jobs on this host, as /proc and the environment that launchers give them
// say.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tidemark::harness {

struct JobProcess {
  std::string job;  // PMIX_NAMESPACE
  std::uint32_t rank = 0;
  int process = 0;
  bool stopped = false;  // by SIGSTOP or a debugger
};

/// All that this user may look into, in no order.
std::vector<JobProcess> job_processes();

}  // namespace tidemark::harness
