// Runs a program on devices; what they made of it, compared with the oracle and with each other, as
// text.
#pragma once

#include <string>
#include <vector>

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

}  // namespace tidemark
