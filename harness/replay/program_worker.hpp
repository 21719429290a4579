// Runs a program in a worker of its own: whatever it does to the GPU costs that process alone.
#pragma once

#include <string>

#include "harness/supervisor/worker_process.hpp"
#include "kernels/device.hpp"
#include "kernels/ops/program/program.hpp"

namespace tidemark {

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

}  // namespace tidemark
