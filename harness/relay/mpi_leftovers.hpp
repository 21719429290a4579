// What Open MPI 4 leaves on a host: a killed mpirun its session folder, a rank that is killed in
// MPI_Init 4 MiB of shared memory, whatever becomes of its mpirun.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace tidemark::harness {

/// Where Open MPI keeps such things on a host, and whose are meant.
struct MpiPlaces {
  std::filesystem::path sessions;                      // $TMPDIR/ompi.HOST.UID
  std::filesystem::path shared_memory;                 // /dev/shm
  std::string segment_prefix;                          // vader_segment.HOST.UID.
  std::function<std::vector<std::uint32_t>()> living;  // job families that have processes now
};

/// Those of this user on this host; none in a container, which does not see all processes.
MpiPlaces mpi_places();

/// Removes the shared memory of jobs of which no process lives, and session folders whose mpirun is
/// gone, too. Returns the paths that went. What cannot be removed stays.
std::vector<std::filesystem::path> remove_mpi_leftovers(const MpiPlaces& places);

}  // namespace tidemark::harness
