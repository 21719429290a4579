// Which GPUs this rank could use, found without loading anything of NVIDIA into it.
#include "harness/discovery/gpu_inventory.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <sstream>

#include "harness/base/child_process.hpp"
#include "harness/discovery/node_files.hpp"
#include "harness/discovery/nvml.hpp"
#include "harness/version.hpp"
#include "kernels/error.hpp"
#include "reports/base/process_state.hpp"
#include "reports/journal/fields.hpp"

namespace tidemark {
namespace {

using Json = nlohmann::json;

constexpr double kAnswerSeconds = 60;
constexpr std::string_view kNcclMark = "nccl ";

struct GpuDialect {};  // no enumerator is among the fields

template <class Io>
void fields(Io& io, Is<GpuProperties> auto& r) {
  io("uuid", r.uuid), io("pci", r.pci), io("name", r.name);
  io("compute_capability", r.compute_capability), io("sm_count", r.sm_count);
  io("memory_bytes", r.memory_bytes);
  io("driver_version", r.driver_version), io("runtime_version", r.runtime_version);
}

// NCCL's library is asked here, in the child, because it brings CUDA with it.
std::string nccl_version() {
  void* const library = dlopen("libnccl.so.2", RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return {};
  void* const address = dlsym(library, "ncclGetVersion");
  int version = 0;  // nccl.h, NCCL_VERSION: 22803 for 2.28.3
  if (address == nullptr || reinterpret_cast<int (*)(int*)>(address)(&version) != 0) return {};
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

std::string last_line(const std::string& text) {
  std::istringstream lines(text);
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

std::string nothing_visible() {
  const char* const chosen = std::getenv("CUDA_VISIBLE_DEVICES");
  if (chosen != nullptr)
    return fmt::format("CUDA shows none of it: CUDA_VISIBLE_DEVICES is '{}'", chosen);
  return "CUDA shows none of it: see whether nvidia-smi works here, and in a container whether it "
         "was started with its GPUs";
}

}  // namespace

std::string to_json(const std::vector<GpuProperties>& gpus) {
  // A name is what a driver says: bytes that are no UTF-8 must not stop the launch.
  return FieldWriter<GpuDialect>::written(gpus).dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::vector<GpuProperties> gpus_from_json(const std::string& text) {
  try {
    std::vector<GpuProperties> gpus;
    FieldReader<GpuDialect>::read(FieldJson::parse(text), gpus);
    return gpus;
  } catch (const std::exception& error) {
    throw Error(fmt::format("the list of GPUs cannot be read: {}", error.what()));
  }
}

GpuInventory inventory_of(const ChildAnswer& answer) {
  GpuInventory inventory{.nvidia_present = true};
  if (!answer.started) {
    inventory.problem = "the process that asks CUDA could not be started";
  } else if (answer.timed_out) {
    inventory.problem =
        fmt::format("CUDA did not name its GPUs within {} s: look for Xid lines in the kernel log",
                    kAnswerSeconds);
  } else if (answer.status != 0) {
    const std::string said = last_line(answer.err);
    inventory.problem = answer.status > 128
                            ? fmt::format("asking CUDA ended with signal {}", answer.status - 128)
                            : fmt::format("asking CUDA failed: {}", said);
  } else {
    std::istringstream lines(answer.out);
    for (std::string line; std::getline(lines, line);) {
      if (line.rfind(kNcclMark, 0) == 0) inventory.nccl = line.substr(kNcclMark.size());
    }
    try {
      inventory.visible = gpus_from_json(last_line(answer.out));
      if (inventory.visible.empty()) inventory.problem = nothing_visible();
    } catch (const Error& error) {
      inventory.problem = error.what();
    }
  }
  return inventory;
}

GpuInventory with_nvml(GpuInventory inventory, std::vector<NvmlAnswer> answers) {
  inventory.described = std::move(answers);
  for (std::size_t i = 0; i < inventory.visible.size(); ++i) {
    // CUDA names a slice like a whole GPU on some drivers; NVML knows what the whole GPU is.
    std::string& uuid = inventory.visible[i].uuid;
    GpuRecord& record = inventory.described.at(i).record;
    if (record.mig_enabled == 1 && uuid.starts_with("GPU-")) uuid.replace(0, 3, "MIG");
    record.uuid = uuid;
  }
  return inventory;
}

GpuInventory take_inventory(const NvmlChild& nvml) {
  if (!nvidia_present()) return {};
  if (!build_version().cuda)
    return {.nvidia_present = true, .problem = "this tidemark was built without CUDA"};
  const GpuInventory inventory =
      inventory_of(ask_bounded({nvml.program, "__gpus"}, kAnswerSeconds));
  return with_nvml(inventory, ask_nvml(inventory.visible, nvml));
}

int gpus_main() {
  try {
    const std::vector<GpuProperties> gpus = visible_gpus();
    if (!gpus.empty()) fmt::print("{}{}\n", kNcclMark, nccl_version());
    fmt::print("{}\n", to_json(gpus));
    return std::fflush(stdout) == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}

// Describes this machine and its GPUs for the report.

namespace {

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
  return {.rank = rank,
          .local_index = index,
          .uuid = fmt::format("virtual-{}-{}", rank, index),
          .name = "virtual"};
}

NodeRecord describe_node(std::uint32_t rank, const std::string& mpi_version) {
  NodeRecord node;
  node.first_rank = rank;
  node.os = os_name();
  node.cpu = cpu_model();
  node.boot_id = boot_id();
  node.mpi = mpi_version;
  node.hdf5 = build_version().hdf5;
  utsname names{};
  if (uname(&names) == 0) {
    node.hostname = names.nodename;
    node.kernel = fmt::format("{} {} {}", names.sysname, names.release, names.machine);
  }
  node.logical_cpus = static_cast<std::uint32_t>(std::max(0L, sysconf(_SC_NPROCESSORS_ONLN)));
  node.memory_gib = memory_gib();
  return node;
}

// Both ends of a question to NVML: who asks, and the child that loads the library.

namespace {

bool descends_from(std::uint32_t pid, std::uint32_t ancestor) {
  while (pid > 1 && pid != ancestor)
    pid = static_cast<std::uint32_t>(
        process_state(static_cast<int>(pid)).value_or(ProcessState{}).parent);
  return pid == ancestor;
}

// The child of another rank that asks at this moment holds no context, so it is not among them.
std::vector<std::uint32_t> foreign_processes(const Nvml& nvml, NvmlDevice device) {
  // Where NVML does not say, the launch goes on; telemetry notes it in the report.
  std::vector<std::uint32_t> foreign =
      nvml.compute_processes(device).value_or(std::vector<std::uint32_t>{});
  const auto asker = static_cast<std::uint32_t>(getppid());
  foreign.erase(std::remove_if(foreign.begin(), foreign.end(),
                               [&](std::uint32_t pid) { return descends_from(pid, asker); }),
                foreign.end());
  return foreign;
}

GpuRecord record_of(const GpuProperties& properties) {
  return {.uuid = properties.uuid,
          .pci = properties.pci,
          .name = properties.name,
          .cuda_driver = properties.driver_version,
          .cuda_runtime = properties.runtime_version,
          .compute_capability = properties.compute_capability,
          .sm_count = properties.sm_count,
          .memory_bytes = properties.memory_bytes};
}

// The record travels as a line of a journal, which brings NaN and any text through.
std::string to_line(const NvmlAnswer& answer) {
  return Json{{"record", to_line(Record(answer.record))},
              {"foreign_processes", answer.foreign_processes}}
      .dump();
}

std::optional<NvmlAnswer> answer_in(const std::string& line) {
  try {
    const Json json = Json::parse(line);
    const JournalText text = parse_journal(json.at("record"));
    if (text.records.size() != 1) return std::nullopt;
    return NvmlAnswer{.record = std::get<GpuRecord>(text.records[0]),
                      .foreign_processes = json.at("foreign_processes")};
  } catch (const std::exception&) {  // torn by the end of the child, or the driver's own words
    return std::nullopt;
  }
}

}  // namespace

std::vector<NvmlAnswer> ask_nvml(const std::vector<GpuProperties>& gpus, const NvmlChild& child) {
  std::vector<NvmlAnswer> answers;
  answers.reserve(gpus.size());
  for (const GpuProperties& gpu : gpus) answers.push_back({.record = record_of(gpu)});
  if (gpus.empty()) return answers;
  // Also a child that was killed may have answered for some GPUs before one did not return.
  const ChildAnswer said =
      ask_bounded({child.program, "__nvml", child.library, to_json(gpus)}, child.seconds);
  std::istringstream lines(said.out);
  for (std::string line; std::getline(lines, line);) {
    const std::optional<NvmlAnswer> told = answer_in(line);
    for (NvmlAnswer& answer : answers) {
      if (told && told->record.uuid == answer.record.uuid) answer = *told;
    }
  }
  return answers;
}

int nvml_main(int argc, char** argv) {
  try {
    if (argc != 4) return 1;
    const std::vector<GpuProperties> gpus = gpus_from_json(argv[3]);
    const std::optional<Nvml> nvml = Nvml::open(argv[2]);
    if (!nvml) return 1;
    for (const GpuProperties& gpu : gpus) {
      NvmlDevice device = nvml->device_of_uuid(gpu.uuid);
      // CUDA has a UUID of its own for a slice; its PCI address is that of the whole GPU.
      if (device == nullptr) device = nvml->device_of_pci(gpu.pci);
      if (device == nullptr) continue;
      NvmlAnswer answer{.record = record_of(gpu),
                        .foreign_processes = foreign_processes(*nvml, device)};
      nvml->describe(device, answer.record);
      fmt::print("{}\n", to_line(answer));
      // At once: the next GPU may be one that never answers.
      if (std::fflush(stdout) != 0) return 1;
    }
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}

}  // namespace tidemark
