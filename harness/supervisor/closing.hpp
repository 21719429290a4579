// The end of a launch: journals become the report, and all ranks agree on the exit code.
#pragma once

#include <string>

#include "harness/exit_code.hpp"
#include "harness/supervisor/launch_state.hpp"
#include "harness/supervisor/opening.hpp"
#include "harness/supervisor/reporter_process.hpp"

namespace tidemark {

/// Journals the end of this rank; brings all journals to rank 0, which makes the report, checks it
/// and says what came out. `reporter` is rank 0's, else null. Returns the code that all ranks
/// return.
ExitCode close_launch(LaunchState& state, const Opening& opening, const std::string& trouble,
                      ReporterProcess* reporter);

}  // namespace tidemark
