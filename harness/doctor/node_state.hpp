// What `doctor` reads of a node, itself and by children, before anything of it is judged.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/command_line/launch_options.hpp"
#include "harness/discovery/nvml.hpp"
#include "kernels/device.hpp"

namespace tidemark {

// The children of `doctor`: what maps libcuda, speaks MPI or may never return is asked in them.

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

struct FreeSpace {
  bool folder = false;       // it is one
  std::string refusal = {};  // why nothing can be written there
  std::uint64_t free_bytes = 0;
};

/// Unknown text is empty.
struct NodeState {
  bool gpus_asked = true;  // false: --device virtual
  bool nvidia_present = false;
  std::string driver_module = {};                    // "580.105.08"
  FoundLibrary cuda = {}, nccl = {}, cublaslt = {};  // libcuda.so.1, libnccl.so.2, libcublasLt
  std::vector<GpuProperties> visible = {};           // what CUDA shows
  std::string cuda_problem = {};                     // why it shows none
  std::optional<std::string> cuda_visible = {};      // CUDA_VISIBLE_DEVICES
  NvmlStates nvml = {};
  std::string built_nvcc = {};  // "13.0.88"; empty: built without CUDA

  bool built_with_mpi = true;
  std::string mpirun = {};          // its path
  std::string mpirun_version = {};  // its first line
  bool is_rank = false;             // a launcher started this process, so that it starts none
  RankStart ranks = {};

  FreeSpace shared_memory = {};
  std::uint64_t locked_bytes = 0, open_files = 0;  // soft limits; ~0: unlimited
  bool infiniband = false;
  std::string clock_source = {};
  std::string out = {};  // as given
  FreeSpace output = {};
  std::string hdf5 = {};
};

/// Where to look; tests put their own into all of it.
struct NodePlace {
  std::filesystem::path root = "/";
  std::string program = "/proc/self/exe";  // a tidemark
  std::string nvml = "libnvidia-ml.so.1";
  std::string path = {};  // PATH
  DeviceChoice device = DeviceChoice::automatic;
  std::string out = ".";  // a folder for reports
};

/// Reads files and asks children, each with a deadline. Changes nothing.
NodeState read_node(const NodePlace& place);

}  // namespace tidemark
