// The GPU of a verb that uses only one.
#pragma once

#include <string>
#include <string_view>

#include "harness/command_line/launch_options.hpp"
#include "harness/room.hpp"
#include "reports/journal/record.hpp"

namespace tidemark::harness {

/// Whether --device chooses a GPU on this machine.
bool chooses_gpu(DeviceChoice device);

/// Throws UsageError where a launcher started more than one rank or --gpus names several GPUs.
void check_one_gpu(std::string_view verb, const LaunchOptions& options);

/// The GPU of --gpus; without it the one with UUID `preferred`, or the first. Asks child processes.
/// Throws EnvironmentError where there is none that can be used, UsageError where --gpus names
/// none.
GpuRecord one_gpu(std::string_view verb, LaunchOptions options, const std::string& preferred = {});

}  // namespace tidemark::harness
