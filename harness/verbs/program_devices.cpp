// Chooses devices for one program, runs it on each and prints the verdicts.
#include "harness/verbs/program_devices.hpp"

#include <vector>

#include <fmt/format.h>

#include "harness/base/errors.hpp"
#include "harness/base/output.hpp"
#include "harness/command_line/option_values.hpp"
#include "harness/discovery/assignment.hpp"
#include "harness/replay/given_program.hpp"
#include "harness/replay/judged_program.hpp"
#include "kernels/error.hpp"
#include "reports/render/page.hpp"
#include "reports/render/show.hpp"

namespace tidemark {
namespace {

// As a row of a table: "GPU-5f1c2d3e NVIDIA H200".
std::string name_of(const GpuRecord& gpu) {
  constexpr std::size_t kUuidDigits = 12;
  return fmt::format("{} {}", gpu.uuid.substr(0, kUuidDigits), gpu.name);
}

// A device and how to start a worker that has it.
struct Place {
  std::string device;
  DeviceKind kind = DeviceKind::virtual_device;
  std::string gpu = {};  // its UUID
  SetupOrder setup = {};

  ProgramEnd run(const Program& checked) const {
    return run_in_worker({.visible_gpu = gpu}, setup, checked);
  }
};

std::vector<Place> places_of(const ProgramDevices& devices) {
  std::vector<Place> places;
  if (chooses_gpu(devices.options.device)) {
    const GpuRecord gpu = one_gpu(devices.verb, devices.options, devices.preferred);
    places.push_back({.device = name_of(gpu),
                      .kind = DeviceKind::cuda,
                      .gpu = gpu.uuid,
                      .setup = {.device = DeviceKind::cuda}});
  }
  places.push_back({.device = "virtual device", .setup = {.options = devices.options}});
  return places;
}

// Of the same verdict and, for the first thing that is wrong, the same kind: "guard", "barrier".
bool is_alike(const DeviceVerdict& one, const DeviceVerdict& other) {
  const auto kind = [](const DeviceVerdict& verdict) {
    const std::string first = verdict.findings.empty() ? "" : verdict.findings.front();
    return first.substr(0, first.find(':'));
  };
  return one.word == other.word && kind(one) == kind(other);
}

Program minimized_at(const Place& place, const PreparedProgram& program, const DeviceVerdict& whole,
                     std::size_t& runs) {
  return minimized(program.program, [&](const Program& candidate) {
    try {
      const PreparedProgram less = prepared(candidate, "candidate");
      ++runs;
      return is_alike(whole, verdict_on(less, place.run(less.checked)));
    } catch (const UsageError&) {
      return false;  // not sound, or nothing can be predicted of it
    }
  });
}

}  // namespace

void check_devices(const ProgramDevices& devices) {
  const LaunchOptions& options = devices.options;
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
    for (const Place& place : places_of(devices))
      runs.push_back(
          {.device = place.device, .kind = place.kind, .end = place.run(program.checked)});
  } catch (const Error& refused) {
    throw EnvironmentError(fmt::format("{}: {}", devices.verb, refused.what()));
  }
  const JudgedText judged =
      judged_text(program, runs, colour_wanted(false), terminal_columns(ShowOptions{}.columns));
  print_out(heading + judged.text);
  return judged.code;
}

PreparedProgram minimized_on(const PreparedProgram& program, const ProgramDevices& devices,
                             const std::string& name, std::string& heading) try {
  for (const Place& place : places_of(devices)) {
    const DeviceVerdict whole = verdict_on(program, place.run(program.checked));
    if (whole.code != ExitCode::failed) continue;
    std::size_t runs = 1;
    PreparedProgram least = prepared(minimized_at(place, program, whole, runs), name);
    heading += fmt::format("minimized on {}: {} in place of {}, after {}\n", place.device,
                           plural(least.program.steps.size(), "step"), program.program.steps.size(),
                           plural(runs, "run"));
    return least;
  }
  throw UsageError(
      fmt::format("--minimize: {} does not fail on any of its devices, so that there is nothing to "
                  "minimize; leave it out to see the verdicts",
                  name));
} catch (const Error& refused) {
  throw EnvironmentError(fmt::format("{}: {}", devices.verb, refused.what()));
}

ExitCode run_program_file(const std::string& path, const LaunchOptions& options) {
  const ProgramDevices devices{.verb = "run --program", .options = options};
  check_devices(devices);
  const PreparedProgram program = prepared(given_program(path), path);
  return run_prepared(program, devices, fmt::format("{}: {}\n", path, size_of(program)));
}

}  // namespace tidemark
