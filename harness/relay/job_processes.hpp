// The processes of this host, as /proc says, and those of MPI jobs among them, as the environment
// that launchers give them says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tidemark::harness {

struct ProcessState {
  char letter = '?';  // proc(5): R S D T Z ...
  int parent = 0;

  bool stopped() const { return letter == 'T' || letter == 't'; }
  bool dead() const { return letter == 'Z' || letter == 'X'; }  // only its parent still knows it
};

/// Nothing of a process that is not there.
std::optional<ProcessState> process_state(int process);

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
