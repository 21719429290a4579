// The processes of this host and those of MPI jobs among them, as the environment that launchers
// give them says.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace tidemark {

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

}  // namespace tidemark
