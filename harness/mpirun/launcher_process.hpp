// The mpirun of `--ranks N`: started, told of signals, waited for, and ended where it does not end.
#pragma once

#include <string>
#include <vector>

namespace tidemark::harness {

/// In seconds.
struct LauncherBounds {
  double start = 300;         // from its start until it has a process, or is ended
  double without_ranks = 60;  // from the end of its last process until it is ended, too
  double stop = 30;           // from the first signal to stop
  double orphans = 60;        // from its end until what it has started is killed
  double kill = 10;           // from SIGTERM to SIGKILL
};

/// Runs `words[0]` from PATH with these arguments, and returns its exit code, 128 + the signal that
/// ended it. SIGINT, SIGTERM and SIGHUP go to the processes that it has started: of a launcher they
/// would have a second to stop. When it returns, none of the processes of this program is left
/// that the launcher has started. What cannot be started is said, with exit code 5.
int run_launcher(const std::vector<std::string>& words, const LauncherBounds& bounds = {});

}  // namespace tidemark::harness
