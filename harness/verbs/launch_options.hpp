// What the verbs that start launches, run and bench, have in common: how a launch is asked for.
#pragma once

#include <string>
#include <vector>

#include "harness/exit_code.hpp"
#include "harness/options.hpp"
#include "harness/verbs/verbs.hpp"

namespace tidemark::harness {

/// What was typed, before it is understood.
struct TypedLaunch {
  RunOptions options;
  std::string level = "quick", device = "auto", transport = "auto";
  std::string seed, time_limit, row, ranks, launches, expect_gpus;  // empty: not given
  std::string m, n, k, grid;                                        // likewise
  std::vector<std::string> slow;
};

/// Adds the options that both verbs take. `typed` has to outlive the parsing; its level is what
/// --level is without being given.
void add_launch_options(CLI::App& verb, TypedLaunch& typed);

/// Throws UsageError where what was typed makes no sense, ReportError for a bad policy.
RunOptions understood(const TypedLaunch& typed);

/// Runs the launches, or becomes an mpirun that does. Throws UsageError, EnvironmentError.
ExitCode start_launch(const RunOptions& options);

}  // namespace tidemark::harness
