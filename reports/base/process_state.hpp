// The processes of this host, as /proc says.
#pragma once

#include <optional>
#include <string>

namespace tidemark {

struct ProcessState {
  char letter = '?';  // proc(5): R S D T Z ...
  int parent = 0;

  bool stopped() const { return letter == 'T' || letter == 't'; }
  bool dead() const { return letter == 'Z' || letter == 'X'; }  // only its parent still knows it
};

/// Nothing of a process that is not there, or ends while it is looked at.
std::optional<ProcessState> process_state(int process);

/// What can be read of /proc/PROCESS/NAME ("environ"): empty where the process is not there, ends
/// meanwhile, or is another user's.
std::string process_file(int process, const char* name);

}  // namespace tidemark
