// Reads what can be read here, and asks children for the rest.
#include "harness/doctor/node_state.hpp"

#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "harness/base/child_process.hpp"
#include "harness/discovery/gpu_inventory.hpp"
#include "harness/discovery/node_files.hpp"
#include "harness/mpirun/mpirun.hpp"
#include "harness/version.hpp"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

#ifdef TIDEMARK_WITH_MPI
constexpr bool kWithMpi = true;
#else
constexpr bool kWithMpi = false;
#endif

constexpr double kCudaSeconds = 60, kVersionSeconds = 10;

/// statvfs and access: no file is made to try it.
FreeSpace space_of(const fs::path& folder) {
  FreeSpace space;
  std::error_code error;
  space.folder = fs::is_directory(folder, error);
  struct statvfs numbers {};
  if (::access(folder.c_str(), W_OK | X_OK) != 0) space.refusal = std::strerror(errno);
  if (::statvfs(folder.c_str(), &numbers) == 0)
    space.free_bytes = std::uint64_t{numbers.f_bavail} * numbers.f_frsize;
  return space;
}

std::uint64_t limit_of(int resource) {
  rlimit limit{};
  if (::getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0) return ~std::uint64_t{};
  return limit.rlim_cur == RLIM_INFINITY ? ~std::uint64_t{} : limit.rlim_cur;
}

void read_gpus(const NodePlace& place, NodeState& node) {
  node.nvidia_present = nvidia_present(place.root);
  if (!node.nvidia_present) return;
  node.driver_module = driver_module(place.root);
  node.cuda =
      probe_library(place.program, "libcuda.so.1", "cuDriverGetVersion", VersionCall::by_pointer);
  node.nvml = probe_gpus(place.program, place.nvml);
  // Contexts are made in the child, and end with it.
  const GpuInventory inventory = inventory_of(ask_bounded({place.program, "__gpus"}, kCudaSeconds));
  node.visible = inventory.visible;
  node.cuda_problem = inventory.problem;
  if (const char* chosen = std::getenv("CUDA_VISIBLE_DEVICES")) node.cuda_visible = chosen;
  node.nccl =
      probe_library(place.program, "libnccl.so.2", "ncclGetVersion", VersionCall::by_pointer);
  for (const char* name : {"libcublasLt.so.13", "libcublasLt.so.12"}) {
    if (!node.cublaslt.loads)
      node.cublaslt =
          probe_library(place.program, name, "cublasLtGetVersion", VersionCall::returned);
  }
}

void read_mpi(const NodePlace& place, NodeState& node) {
  node.built_with_mpi = kWithMpi;
  node.is_rank = launcher_rank().has_value();
  node.mpirun = find_on_path("mpirun", place.path);
  if (node.mpirun.empty()) return;
  const auto settings = launcher_settings();
  const ChildAnswer version =
      run_bounded({node.mpirun, "--version"}, kVersionSeconds, {.settings = settings});
  node.mpirun_version = version.out.substr(0, version.out.find('\n'));
  if (!kWithMpi || node.is_rank) return;
  // mpirun must have the program by a name that is ours in its process, too.
  std::error_code error;
  const fs::path self = fs::canonical(place.program, error);
  node.ranks = probe_ranks(error ? place.program : self.string(), node.mpirun, settings);
}

}  // namespace

NodeState read_node(const NodePlace& place) {
  NodeState node{.gpus_asked = place.device != DeviceChoice::virtual_device};
  if (node.gpus_asked) read_gpus(place, node);
  node.built_nvcc = build_version().nvcc;
  read_mpi(place, node);
  node.shared_memory = space_of(place.root / "dev/shm");
  node.locked_bytes = limit_of(RLIMIT_MEMLOCK);
  node.open_files = limit_of(RLIMIT_NOFILE);
  node.infiniband = infiniband_present(place.root);
  node.clock_source = clock_source(place.root);
  node.out = place.out;
  node.output = space_of(place.out);
  node.hdf5 = describe_node(0, "").hdf5;
  return node;
}

}  // namespace tidemark
