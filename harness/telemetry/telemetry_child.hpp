// The process that polls NVML for a supervisor.
#pragma once

namespace tidemark::harness {

/// `__telemetry LIBRARY GPU UUID [GPU UUID]...`: writes readings and events to stdout, a pipe,
/// until nobody reads it. Returns the exit status; 1 where NVML or all of the GPUs are not there.
int telemetry_main(int argc, char** argv);

}  // namespace tidemark::harness
