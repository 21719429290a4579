// What the verbs that run a program have in common: the devices, and what is printed.
#pragma once

#include <string>

#include "harness/command_line/launch_options.hpp"
#include "harness/exit_code.hpp"
#include "harness/replay/given_program.hpp"
#include "harness/verbs/verbs.hpp"

namespace tidemark {

/// Where a program runs.
struct ProgramDevices {
  std::string verb;            // for messages: "run --program", "replay"
  LaunchOptions options;       // of it --device, --gpus and --fault
  std::string preferred = {};  // UUID of the GPU to take where --gpus names none
};

/// Throws UsageError for a choice of devices that cannot be.
void check_devices(const ProgramDevices& devices);

/// Runs the program on the virtual device and, where one is chosen, on a GPU, each in a process of
/// its own; prints `heading` and the verdicts. Throws EnvironmentError where the GPU cannot be had.
ExitCode run_prepared(const PreparedProgram& program, const ProgramDevices& devices,
                      const std::string& heading);

/// The least of the program that fails as the whole one does, on the first device of run_prepared()
/// on which it fails; adds a line of what came of it to `heading`. Throws UsageError where the
/// program fails on none, EnvironmentError where the GPU cannot be had.
PreparedProgram minimized_on(const PreparedProgram& program, const ProgramDevices& devices,
                             const std::string& name, std::string& heading);

/// tidemark run --program FILE.
ExitCode run_program_file(const std::string& path, const LaunchOptions& options);

}  // namespace tidemark
