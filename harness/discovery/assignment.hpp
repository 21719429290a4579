// Which rank gets which GPU, as rank 0 decides it from what all ranks see, and whether a product
// fits there. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/command_line/launch_options.hpp"
#include "kernels/device.hpp"
#include "reports/journal/record.hpp"

namespace tidemark {

/// What one rank sees.
struct RankView {
  std::string machine = {};  // boot id, or host name where there is none
  bool nvidia_present = false;
  std::vector<GpuProperties> visible = {};
  std::string problem = {};            // of the inventory
  std::vector<std::string> busy = {};  // "GPU-... is held by process 4711", for visible GPUs
  std::string host = {};               // for messages; empty: `machine` is named
};

struct Assignment {
  DeviceKind kind = DeviceKind::virtual_device;
  /// For each rank the GPUs it drives: one a rank under a launcher, all chosen ones for a single
  /// rank without. For virtual devices only the count matters (properties are empty).
  std::vector<std::vector<GpuProperties>> gpus = {};
  /// Why ranks have none that could have one, a line each: a GPU in use, a MIG slice, ...
  std::vector<std::string> left_out = {};
};

/// Applies --device, --gpus, --strict-gpus and --expect-gpus. Under a launcher rank i of a machine
/// takes the i-th GPU not taken by an earlier rank, and has none where that one cannot be used.
/// Throws EnvironmentError: no usable GPU at all, more ranks than GPUs, one that --gpus names and
/// cannot be used, any that cannot with --strict-gpus, fewer on a machine than --expect-gpus;
/// UsageError: --gpus names none.
Assignment assign_gpus(const std::vector<RankView>& ranks, const LaunchOptions& options,
                       bool launched);

// The GPU of a verb that uses only one.

/// Whether --device chooses a GPU on this machine.
bool chooses_gpu(DeviceChoice device);

/// Throws UsageError where a launcher started more than one rank or --gpus names several GPUs.
void check_one_gpu(std::string_view verb, const LaunchOptions& options);

/// The GPU of --gpus; without it the one with UUID `preferred`, or the first. Asks child processes.
/// Throws EnvironmentError where there is none that can be used, UsageError where --gpus names
/// none.
GpuRecord one_gpu(std::string_view verb, LaunchOptions options, const std::string& preferred = {});

// Whether a product that a user gives fits, before anything is allocated.

/// What there is for one slot. 0 bytes: not known, and not checked.
struct SlotMemory {
  std::string machine, host;       // the first tells machines apart, the second names them
  std::uint64_t gpu_bytes = 0;     // all of it: nobody else may use the GPU
  std::uint64_t machine_free = 0;  // bytes, for all slots of the machine
};

/// Throws UsageError, the same on all ranks, where sizes are given and a rank has not enough memory
/// for its share, or a machine for what its ranks need on the host. Virtual devices live in the
/// memory of the host.
void check_product_memory(const ProductOptions& product, DeviceKind device,
                          const std::vector<SlotMemory>& slots);

}  // namespace tidemark
