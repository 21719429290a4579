// MPI_Init waits for every rank without any bound. This watches it from a thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace tidemark {

/// A process of this job on this host, as /proc and the environment that the launcher gave it say.
struct StartedRank {
  std::uint32_t rank = 0;
  int process = 0;
  bool stopped = false;  // by SIGSTOP or a debugger
};

/// The ranks of this process's job on this host, by rank; of several processes with the environment
/// of one rank a stopped one, else the oldest. Empty where the launcher is not PMIx.
std::vector<StartedRank> ranks_of_this_host();

/// What to say of a start that took `seconds`: who is stopped or missing. `here` and `all` are how
/// many ranks the launcher promised, on this host and in all; 0 where it did not say.
std::string start_trouble(double seconds, const std::vector<StartedRank>& found, std::uint32_t here,
                          std::uint32_t all);

/// From its making to its end; after `seconds` in which this process could run, ends the process
/// with exit code 5. One line comes from the lowest rank of the host that is not stopped.
class StartWatch {
 public:
  explicit StartWatch(double seconds);
  ~StartWatch();
  StartWatch(const StartWatch&) = delete;
  StartWatch& operator=(const StartWatch&) = delete;

 private:
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

}  // namespace tidemark
