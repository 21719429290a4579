// tidemark fuzz: programs drawn at random, against the oracle.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "harness/base/clock.hpp"
#include "harness/base/errors.hpp"
#include "harness/base/output.hpp"
#include "harness/command_line/option_values.hpp"
#include "harness/discovery/assignment.hpp"
#include "harness/replay/fuzz.hpp"
#include "harness/replay/given_program.hpp"
#include "harness/supervisor/opening.hpp"
#include "harness/supervisor/stop.hpp"
#include "harness/verbs/verbs.hpp"
#include "kernels/error.hpp"
#include "kernels/ops/program/program_json.hpp"
#include "reports/base/words.hpp"
#include "suite/reproducer/reproducer.hpp"

namespace tidemark {
namespace {

constexpr unsigned kMostWorkers = 4;  // each judges in threads of its own, too

struct TypedFuzz {
  std::string seconds = "60s", seed, device = "auto", gpus, fault, json, cuda;
};

ProgramDevices devices_of(const TypedFuzz& typed) {
  ProgramDevices devices{.verb = "fuzz", .options = {.device = device_of(typed.device)}};
  devices.options.gpus = typed.gpus;
  devices.options.fault = typed.fault;
  check_devices(devices);
  return devices;
}

// The row as a launch makes it: any build of the same suite, without a report.
std::string run_line(const FailedProgram& failed, const ProgramDevices& devices) {
  const LaunchOptions& options = devices.options;
  return fmt::format(
      "tidemark run --cases program.random --level nightly --seed {:#x}{} --device "
      "{}{}{}",
      failed.seed, failed.program ? fmt::format(" --row {}", failed.row) : "",
      name_of(options.device), options.gpus.empty() ? "" : " --gpus " + shell_word(options.gpus),
      options.fault.empty() ? "" : " --fault " + options.fault);
}

std::string summary_of(const Fuzzed& fuzzed, const ProgramPlace& place, std::uint64_t seed,
                       double seconds) {
  return fmt::format("{} from seed {:#x} on {} in {:.0f} s, {:.0f} a second\n{}",
                     plural(fuzzed.programs, "program"), seed, printable(place.device), seconds,
                     static_cast<double>(fuzzed.programs) / seconds,
                     fuzzed.programs == 0 ? "" : fuzzed.coverage.text());
}

// Makes the program small, writes it where it was asked for, and runs it once more.
ExitCode show_failed(const TypedFuzz& typed, const FailedProgram& failed,
                     const ProgramDevices& devices) {
  const std::string name = fmt::format("row {} of seed {:#x}", failed.row, failed.seed);
  std::string heading =
      fmt::format("FAIL  {}\nagain: {}\n", printable(failed.reason), run_line(failed, devices));
  if (!failed.program) {
    print_out(heading + "RESULT: FAIL\n");
    return ExitCode::failed;
  }
  PreparedProgram program = prepared(*failed.program, name);
  try {
    program = minimized_on(program, devices, name, heading);
  } catch (const UsageError&) {
    heading += "alone it did not fail: what ran beside it, or chance, has a part in it\n";
  }
  if (typed.json.empty()) heading += program_json(program.program) + '\n';
  write_named_file(typed.json, "--json", "program", program_json(program.program));
  if (!typed.cuda.empty())
    write_named_file(
        typed.cuda, "--emit-cuda", "CUDA reproducer",
        cuda_reproducer(program.checked, {.title = name,
                                          .expected = "what the oracle of tidemark predicts",
                                          .seen = printable(failed.reason)}));
  run_prepared(program, devices, heading);
  return ExitCode::failed;
}

ExitCode fuzz_verb(const TypedFuzz& typed) {
  const double seconds = seconds_of("--for", typed.seconds);
  const std::uint64_t seed = typed.seed.empty() ? random_seed() : seed_of(typed.seed);
  if (!typed.json.empty() && typed.json == typed.cuda)
    throw UsageError("--json and --emit-cuda name the same file; give two");
  if (!typed.json.empty()) check_replaceable(typed.json, "a file", "--json");
  if (!typed.cuda.empty()) check_replaceable(typed.cuda, "a file", "--emit-cuda");
  const ProgramDevices devices = devices_of(typed);
  Fuzzed fuzzed;
  int interrupted = 0;  // by this signal
  try {
    StopWatch stop(seconds);  // gone before a program is minimized, which a signal may end
    const double began = monotonic_s();
    const ProgramPlace place = places_of(devices).front();
    double last_line = began;
    const unsigned workers = std::clamp(std::thread::hardware_concurrency(), 1U, kMostWorkers);
    fuzzed = fuzz(place, seed, workers, [&](std::uint64_t programs) {
      if (monotonic_s() - last_line >= 10) {
        last_line = monotonic_s();
        write_error(fmt::format("tidemark: {}, {:.0f} of {:.0f} s\n", plural(programs, "program"),
                                last_line - began, seconds));
      }
      return !stop.check();
    });
    if (const std::optional<StopReason>& reason = stop.check()) interrupted = reason->signal;
    print_out(summary_of(fuzzed, place, seed, monotonic_s() - began));
  } catch (const Error& refused) {
    throw EnvironmentError(fmt::format("fuzz: {}", refused.what()));
  }
  if (fuzzed.failed) return show_failed(typed, *fuzzed.failed, devices);
  if (fuzzed.unusable.empty() && interrupted != 0)
    fuzzed.unusable = fmt::format("stopped by signal {}", interrupted);
  if (fuzzed.unusable.empty() && fuzzed.programs == 0)
    fuzzed.unusable = "it ended before the first batch of programs; give --for more time";
  if (!fuzzed.unusable.empty()) {
    print_error("fuzz: " + fuzzed.unusable);
    return ExitCode::incomplete;
  }
  const bool is_virtual = !chooses_gpu(devices.options.device);
  print_out(fmt::format("RESULT: PASS{}\n",
                        is_virtual ? "  (VIRTUAL device: nothing here ran on a GPU)" : ""));
  return ExitCode::ok;
}

}  // namespace

void add_fuzz(CLI::App& app, Action& chosen) {
  CLI::App* verb = app.add_subcommand(
      "fuzz", "Run programs drawn at random until one differs from the oracle, and make it small");
  verb->footer("tidemark fuzz --for 10m");
  auto typed = std::make_shared<TypedFuzz>();
  verb->add_option("--for", typed->seconds, "How long, if nothing fails (60s)")->type_name("TIME");
  verb->add_option("--seed", typed->seed, "Draws the same programs again (random)")->type_name("N");
  verb->add_option("--device", typed->device, "What the programs run on (auto)")
      ->type_name(device_names());
  verb->add_option("--gpus", typed->gpus, "Index or UUID of the GPU (the first)")->type_name("GPU");
  verb->add_option("--fault", typed->fault, "Build this fault into the virtual device")
      ->type_name("NAME");
  verb->add_option("--json", typed->json,
                   "Write the program that failed, for 'run --program', to this file")
      ->type_name("FILE");
  verb->add_option("--emit-cuda", typed->cuda,
                   "Write it as a stand-alone CUDA reproducer to this file")
      ->type_name("FILE");
  verb->callback([typed, &chosen] { chosen = [typed] { return fuzz_verb(*typed); }; });
}

}  // namespace tidemark
