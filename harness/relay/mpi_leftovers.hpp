// What a killed mpirun of Open MPI 4 leaves on its host: its session folder, and 4 MiB of shared
// memory a rank.
#pragma once

#include <filesystem>
#include <string>

namespace tidemark::harness {

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

}  // namespace tidemark::harness
