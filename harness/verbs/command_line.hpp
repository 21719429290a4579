// The command line as a whole: the verbs, their help, and what is said to a mistake in it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/verbs/verbs.hpp"

namespace tidemark {

/// The verbs, in the order of the help.
std::vector<const CLI::App*> all_verbs(const CLI::App& app);

/// Reads the command line and does what it says; `act` carries it out. Help is printed here. Throws
/// what the verb throws, and UsageError for a verb or option that is not known, with the nearest.
ExitCode run_command_line(
    int argc, char** argv,
    const std::function<ExitCode(const Action&)>& act = [](const Action& chosen) {
      return chosen();
    });

// The bash completion, made of the same descriptions as the help.

/// A script for bash 4 and later: verbs, their options, and values of known kind (files, cases,
/// fixed words).
std::string bash_completion(const CLI::App& app);

// The man page, made of the same descriptions as the help.

/// tidemark(1) in roff's man macros: each verb with its options and example, and the exit codes.
std::string man_page(const CLI::App& app);

}  // namespace tidemark
