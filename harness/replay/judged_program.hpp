// Runs a program on devices; what they made of it, compared with the oracle and with each other, as
// text.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/command_line/launch_options.hpp"
#include "harness/exit_code.hpp"
#include "harness/replay/given_program.hpp"
#include "harness/supervisor/worker_process.hpp"
#include "kernels/device.hpp"
#include "kernels/ops/program/program.hpp"

namespace tidemark {

// Each runs in a worker of its own: whatever it does to the GPU costs that process alone.

/// What became of a program in its worker.
struct ProgramEnd {
  enum class Kind {
    ran,      // `result` is what the device made of it
    refused,  // the device could not be had, or cannot run it
    crashed,
    hung,
    killed,  // from outside, twice: out of memory, for example
  };

  Kind kind = Kind::ran;
  RunResult result = {};
  std::string reason = {};  // of the others, one line
};

struct ProgramBounds {
  double ready_s = 120;  // until the worker has its device
  double run_s = 60;     // beyond what the waits and delays of the program may take
};

/// How long a worker may be silent.
class WorkerDeadline {
 public:
  explicit WorkerDeadline(double seconds) { begin(seconds); }
  void begin(double seconds);
  bool over() const;
  double seconds() const { return seconds_; }

 private:
  double seconds_ = 0, until_ = 0;
};

/// Takes what the worker says until `take` returns true. Else how it ended before that, or that it
/// was silent for too long.
std::optional<ProgramEnd> ended_before(WorkerProcess& worker, const WorkerDeadline& deadline,
                                       const std::function<bool(Said&)>& take);

/// Runs `program` as it stands, without further checks. Throws Error where no process can be
/// started.
ProgramEnd run_in_worker(WorkerStart start, const SetupOrder& setup, const Program& program,
                         const ProgramBounds& bounds = {});

/// A device and what it made of the program.
struct DeviceRun {
  std::string device;  // "virtual device", "GPU-5f1c2d3e NVIDIA H200"
  DeviceKind kind = DeviceKind::virtual_device;
  ProgramEnd end = {};
};

/// The verdict on one device.
struct DeviceVerdict {
  ExitCode code = ExitCode::ok;
  std::string word;   // "pass", "FAIL", "STICKY", ...
  std::string claim;  // "agrees with the oracle", "2 miscompares", ...
  std::vector<std::string> findings;
};

DeviceVerdict verdict_on(const PreparedProgram& program, const ProgramEnd& end);

/// Where two results differ in what the oracle judges; bytes and observations that documents leave
/// open do not count. One line; empty where they do not differ.
std::string difference_of(const PreparedProgram& program, const RunResult& one,
                          const RunResult& other);

struct JudgedText {
  std::string text;  // of several lines, the last "RESULT: ..."
  ExitCode code = ExitCode::ok;
};

/// All devices that ran, in a table of at most `columns`.
JudgedText judged_text(const PreparedProgram& program, const std::vector<DeviceRun>& runs,
                       bool colour, std::size_t columns);

/// "2 CTAs, 1 barrier, 9 steps (24 with checks)".
std::string size_of(const PreparedProgram& program);

// What the verbs that run a program have in common: the devices, and what is printed.

/// Where a program runs.
struct ProgramDevices {
  std::string verb;            // for messages: "run --program", "replay"
  LaunchOptions options;       // of it --device, --gpus and --fault
  std::string preferred = {};  // UUID of the GPU to take where --gpus names none
};

/// One of the devices, and how to start a worker that has it.
struct ProgramPlace {
  std::string device;  // as in DeviceRun
  DeviceKind kind = DeviceKind::virtual_device;
  WorkerStart start = {};
  SetupOrder setup = {};
  double ready_s = 0;  // until the worker has its device
};

/// The GPU, where one is chosen, and the virtual device. Throws EnvironmentError where the GPU
/// cannot be had.
std::vector<ProgramPlace> places_of(const ProgramDevices& devices);

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

/// Writes a file that --json or --emit-cuda names, where one does, and says so.
void write_named_file(const std::string& path, std::string_view option, std::string_view what,
                      const std::string& text);

/// tidemark run --program FILE.
ExitCode run_program_file(const std::string& path, const LaunchOptions& options);

}  // namespace tidemark
