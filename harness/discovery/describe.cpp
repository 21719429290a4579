// Describes this machine and its GPUs for the report.
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "harness/discovery/gpu_inventory.hpp"
#include "harness/discovery/node_files.hpp"

namespace tidemark::harness {
namespace {

#ifdef TIDEMARK_HDF5_VERSION
constexpr const char* kHdf5 = TIDEMARK_HDF5_VERSION;
#else
constexpr const char* kHdf5 = "";
#endif

std::uint32_t memory_gib() {
  const double pages = static_cast<double>(std::max(0L, sysconf(_SC_PHYS_PAGES)));
  return static_cast<std::uint32_t>(
      std::lround(pages * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1U << 30)));
}

}  // namespace

GpuRecord describe_gpu(const GpuInventory& inventory, const std::string& uuid) {
  GpuRecord record;
  record.uuid = uuid;
  for (const NvmlAnswer& answer : inventory.described) {
    if (answer.record.uuid == uuid) record = answer.record;
  }
  record.nccl = inventory.nccl;
  return record;
}

std::vector<std::string> busy_gpus(const GpuInventory& inventory) {
  std::vector<std::string> busy;
  for (const NvmlAnswer& gpu : inventory.described) {
    for (const std::uint32_t process : gpu.foreign_processes) {
      busy.push_back(fmt::format("{} is held by process {}", gpu.record.uuid, process));
    }
  }
  return busy;
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
  node.memory_gib = memory_gib();
  return node;
}

}  // namespace tidemark::harness
