// What `doctor` reads of a node, before anything of it is judged.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/command_line/launch_options.hpp"
#include "harness/doctor/probes.hpp"
#include "kernels/device.hpp"

namespace tidemark {

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
