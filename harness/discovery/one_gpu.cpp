// Chooses among what the inventory found.
#include "harness/discovery/one_gpu.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "harness/base/errors.hpp"
#include "harness/discovery/assignment.hpp"
#include "harness/discovery/gpu_inventory.hpp"
#include "harness/discovery/node_files.hpp"
#include "harness/mpirun/mpirun.hpp"

namespace tidemark::harness {

bool chooses_gpu(DeviceChoice device) {
  return device == DeviceChoice::cuda || (device == DeviceChoice::automatic && nvidia_present());
}

void check_one_gpu(std::string_view verb, const LaunchOptions& options) {
  if (launched_ranks().value_or(1) > 1)
    throw UsageError(
        fmt::format("{} uses one GPU: start it on one rank, or without a launcher", verb));
  if (options.gpus.find(',') != std::string::npos)
    throw UsageError(
        fmt::format("--gpus '{}': {} uses one GPU; give its index or UUID", options.gpus, verb));
}

GpuRecord one_gpu(std::string_view verb, LaunchOptions options, const std::string& preferred) {
  const GpuInventory inventory = take_inventory();
  if (!inventory.nvidia_present)
    throw EnvironmentError(fmt::format(
        "{}: this machine has no NVIDIA device; run it on one with a Hopper GPU", verb));
  RankView view{.nvidia_present = inventory.nvidia_present,
                .visible = inventory.visible,
                .problem = inventory.problem,
                .busy = busy_gpus(inventory),
                .host = describe_node(0, "").hostname};
  view.machine = view.host;
  const bool there = std::any_of(view.visible.begin(), view.visible.end(),
                                 [&](const auto& gpu) { return gpu.uuid == preferred; });
  if (options.gpus.empty() && there) options.gpus = preferred;
  const Assignment assignment = assign_gpus({view}, options, true);
  const GpuProperties& gpu = assignment.gpus.at(0).at(0);
  GpuRecord record = describe_gpu(inventory, gpu.uuid);
  if (record.name.empty()) record.name = gpu.name;
  return record;
}

}  // namespace tidemark::harness
