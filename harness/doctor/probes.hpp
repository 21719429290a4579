// The children of `doctor`: what maps libcuda, speaks MPI or may never return is asked in them.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/discovery/nvml.hpp"

namespace tidemark {

/// A library that is looked up at run time.
struct FoundLibrary {
  bool loads = false;
  std::string path = {}, version = {};
  std::string problem = {};  // why it does not load
};

/// What NVML says of this node.
struct NvmlStates {
  bool answered = false;
  std::string problem = {};                        // why not
  std::vector<std::optional<GpuState>> gpus = {};  // nothing: NVML counts it and gives no handle
};

/// How mpirun started two ranks of this program.
struct RankStart {
  std::uint32_t met = 0;     // ranks that met all others
  std::string library = {};  // MPI as the ranks have it, "Open MPI v4.1.4"
  bool timed_out = false;
  std::string problem = {};  // what mpirun or a rank said on stderr
};

/// How a version is asked for: cuDriverGetVersion and ncclGetVersion take a pointer to int,
/// cublasLtGetVersion returns it.
enum class VersionCall { by_pointer, returned };

/// Each asks `program __probe ...`, bounded; none throws for what a child does.
FoundLibrary probe_library(const std::string& program, const std::string& library,
                           const std::string& function, VersionCall call);
NvmlStates probe_gpus(const std::string& program, const std::string& library);
RankStart probe_ranks(const std::string& program, const std::string& mpirun,
                      const std::vector<std::pair<std::string, std::string>>& settings);

/// The children's side. Returns the exit status.
int probe_main(int argc, char** argv);

}  // namespace tidemark
