// Both ends of a question to NVML: who asks, and the child that loads the library.
#include "harness/discovery/nvml_child.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "harness/base/child_process.hpp"
#include "harness/discovery/gpu_inventory.hpp"
#include "harness/discovery/nvml.hpp"
#include "reports/base/process_state.hpp"

namespace tidemark {
namespace {

using Json = nlohmann::json;

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
