// Describes this machine and its GPUs for the report, and names who else uses a GPU.
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include <fmt/format.h>

#include "harness/discovery/gpu_inventory.hpp"
#include "harness/discovery/node_files.hpp"
#include "harness/discovery/nvml.hpp"
#include "harness/discovery/within.hpp"

namespace tidemark {
namespace {

constexpr double kNvmlSeconds = 10;

#ifdef TIDEMARK_HDF5_VERSION
constexpr const char* kHdf5 = TIDEMARK_HDF5_VERSION;
#else
constexpr const char* kHdf5 = "";
#endif

// The parent of `pid`, or 0: /proc/PID/stat is "PID (name) state parent ...", and the name may
// hold anything, parentheses too.
std::uint32_t parent_of(std::uint32_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos || name_end + 4 >= text.size()) return 0;
  return static_cast<std::uint32_t>(std::strtoul(text.c_str() + name_end + 4, nullptr, 10));
}

bool descends_from(std::uint32_t pid, std::uint32_t ancestor) {
  while (pid > 1 && pid != ancestor) pid = parent_of(pid);
  return pid == ancestor;
}

}  // namespace

GpuRecord describe_gpu(const GpuProperties& properties) {
  GpuRecord record;
  record.uuid = properties.uuid;
  record.pci = properties.pci;
  record.name = properties.name;
  record.cuda_driver = properties.driver_version;
  record.cuda_runtime = properties.runtime_version;
  record.compute_capability = properties.compute_capability;
  record.sm_count = properties.sm_count;
  record.memory_bytes = properties.memory_bytes;
  const auto described = within(kNvmlSeconds, [record] {
    GpuRecord known = record;
    const std::optional<Nvml> nvml = Nvml::open();
    const NvmlDevice device = nvml ? nvml->device_of_uuid(known.uuid) : nullptr;
    if (device != nullptr) nvml->describe(device, known);
    return known;
  });
  return described.value_or(record);
}

GpuRecord describe_virtual(std::uint32_t rank, std::uint32_t index) {
  GpuRecord record;
  record.rank = rank;
  record.local_index = index;
  record.uuid = fmt::format("virtual-{}-{}", rank, index);
  record.name = "virtual";
  return record;
}

NodeRecord describe_node(std::uint32_t rank, const std::string& mpi_version) {
  NodeRecord node;
  node.rank = rank;
  node.os = os_name();
  node.cpu = cpu_model();
  node.boot_id = boot_id();
  node.mpi = mpi_version;
  node.hdf5 = kHdf5;
  utsname names{};
  if (uname(&names) == 0) {
    node.hostname = names.nodename;
    node.kernel = fmt::format("{} {} {}", names.sysname, names.release, names.machine);
  }
  node.logical_cpus = static_cast<std::uint32_t>(std::max(0L, sysconf(_SC_NPROCESSORS_ONLN)));
  return node;
}

std::vector<std::uint32_t> foreign_processes(const std::string& uuid) {
  const auto pids = within(kNvmlSeconds, [uuid] {
    const std::optional<Nvml> nvml = Nvml::open();
    const NvmlDevice device = nvml ? nvml->device_of_uuid(uuid) : nullptr;
    return device == nullptr ? std::vector<std::uint32_t>{} : nvml->compute_processes(device);
  });
  std::vector<std::uint32_t> foreign = pids.value_or(std::vector<std::uint32_t>{});
  const auto self = static_cast<std::uint32_t>(getpid());
  foreign.erase(std::remove_if(foreign.begin(), foreign.end(),
                               [&](std::uint32_t pid) { return descends_from(pid, self); }),
                foreign.end());
  return foreign;
}

}  // namespace tidemark
