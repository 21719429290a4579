// The processes of this host and those of MPI jobs among them, as the environment that launchers
// give them says.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tidemark::harness {

/// The numbers of all processes.
std::vector<int> all_processes();

struct JobProcess {
  std::string job;  // PMIX_NAMESPACE
  std::uint32_t rank = 0;
  int process = 0;
  bool stopped = false;  // by SIGSTOP or a debugger
};

/// All that this user may look into, in no order.
std::vector<JobProcess> job_processes();

}  // namespace tidemark::harness
