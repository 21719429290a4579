// Chooses devices for one program, runs it on each and prints the verdicts.
#include "harness/verbs/program_devices.hpp"

#include <vector>

#include <fmt/format.h>

#include "harness/discovery/one_gpu.hpp"
#include "harness/errors.hpp"
#include "harness/replay/judged_program.hpp"
#include "harness/verbs/option_values.hpp"
#include "harness/verbs/terminal.hpp"
#include "kernels/error.hpp"
#include "reports/render/show.hpp"

namespace tidemark::harness {
namespace {

// As a row of a table: "GPU-5f1c2d3e NVIDIA H200".
std::string name_of(const GpuRecord& gpu) {
  constexpr std::size_t kUuidDigits = 12;
  return fmt::format("{} {}", gpu.uuid.substr(0, kUuidDigits), gpu.name);
}

}  // namespace

void check_devices(const ProgramDevices& devices) {
  const RunOptions& options = devices.options;
  check_one_gpu(devices.verb, options);
  if (!options.fault.empty()) check_fault(options.fault, options.device);
  if (!options.gpus.empty() && options.device == DeviceChoice::virtual_device)
    throw UsageError(fmt::format("--gpus '{}': {} uses one virtual device; leave --gpus out",
                                 options.gpus, devices.verb));
}

ExitCode run_prepared(const PreparedProgram& program, const ProgramDevices& devices,
                      const std::string& heading) {
  std::vector<DeviceRun> runs;
  try {
    if (chooses_gpu(devices.options.device)) {
      const GpuRecord gpu = one_gpu(devices.verb, devices.options, devices.preferred);
      runs.push_back({.device = name_of(gpu),
                      .kind = DeviceKind::cuda,
                      .end = run_in_worker({.visible_gpu = gpu.uuid}, {.device = DeviceKind::cuda},
                                           program.checked)});
    }
    runs.push_back({.device = "virtual device",
                    .end = run_in_worker({}, {.fault = devices.options.fault}, program.checked)});
  } catch (const Error& refused) {
    throw EnvironmentError(fmt::format("{}: {}", devices.verb, refused.what()));
  }
  const JudgedText judged =
      judged_text(program, runs, colour_wanted(false), terminal_columns(ShowOptions{}.columns));
  print_out(heading + judged.text);
  return judged.code;
}

ExitCode run_program_file(const std::string& path, const RunOptions& options) {
  const ProgramDevices devices{.verb = "run --program", .options = options};
  check_devices(devices);
  const PreparedProgram program = prepared(given_program(path), path);
  return run_prepared(program, devices, fmt::format("{}: {}\n", path, size_of(program)));
}

}  // namespace tidemark::harness
