// The processes of this host and those of MPI jobs among them, as the environment that launchers
// give them says: what killed ones left, and who is missing at the start.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace tidemark {

/// The numbers of all processes.
std::vector<int> all_processes();

struct JobProcess {
  std::string job = {};  // PMIX_NAMESPACE
  std::uint32_t rank = 0;
  int process = 0;
  bool stopped = false;  // by SIGSTOP or a debugger
};

/// All that this user may look into, in no order.
std::vector<JobProcess> job_processes();

// What a killed mpirun of Open MPI 4 leaves on its host: its session folder, and 4 MiB of shared
// memory a rank.

/// Where Open MPI keeps such things on a host, and whose are meant.
struct MpiPlaces {
  std::filesystem::path sessions;       // $TMPDIR/ompi.HOST.UID
  std::filesystem::path shared_memory;  // /dev/shm
  std::string segment_prefix;           // vader_segment.HOST.UID.
};

/// Those of this user on this host; none in a container, which does not see all processes.
MpiPlaces mpi_places();

/// Removes session folders whose mpirun is gone and of whose job no process lives, and the shared
/// memory of that job. Memory without such a folder may be that of a job of another launcher, which
/// cannot be known to be dead. What cannot be removed stays.
void remove_mpi_leftovers(const MpiPlaces& places);

// MPI_Init waits for every rank without any bound. This watches it from a thread.

/// The ranks of this process's job on this host, by rank; of several processes with the environment
/// of one rank a stopped one, else the oldest. Empty where the launcher is not PMIx.
std::vector<JobProcess> ranks_of_this_host();

/// What to say of a start that took `seconds`: who is stopped or missing. `here` and `all` are how
/// many ranks the launcher promised, on this host and in all; 0 where it did not say.
std::string start_trouble(double seconds, const std::vector<JobProcess>& found, std::uint32_t here,
                          std::uint32_t all);

/// From its making to its end; after `seconds` in which this process could run, or when the process
/// that started this one is gone, ends the process with exit code 5. One line comes from the lowest
/// rank of the host that is not stopped.
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
