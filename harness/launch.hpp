// One launch, from the plan to the report on disk.
#pragma once

#include "harness/command_line/launch_options.hpp"
#include "harness/exit_code.hpp"

namespace tidemark {

/// Runs a launch on all ranks and returns the code they agreed on. Called once, from main, before
/// any other thread exists. Throws UsageError, EnvironmentError.
ExitCode run_launch(const LaunchOptions& options);

/// The worker side: reads its orders from a pipe, runs cases, streams records. Returns the exit
/// status.
int worker_main();

}  // namespace tidemark
