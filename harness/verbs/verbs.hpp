// The verbs of the command line, one file each. A verb adds itself to the CLI11 application and
// says what to call when it was chosen.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/base/output.hpp"
#include "harness/exit_code.hpp"

// Its header costs more to read than most files here, and verbs alone need it.
namespace CLI {  // NOLINT(readability-identifier-naming): the name is the library's
class App;
}

namespace tidemark {

using Action = std::function<ExitCode()>;

void add_run(CLI::App& app, Action& chosen, int argc, char** argv);
void add_bench(CLI::App& app, Action& chosen, int argc, char** argv);
void add_list(CLI::App& app, Action& chosen);
void add_show(CLI::App& app, Action& chosen);
void add_replay(CLI::App& app, Action& chosen);
void add_fuzz(CLI::App& app, Action& chosen);
void add_compare(CLI::App& app, Action& chosen);
void add_history(CLI::App& app, Action& chosen);
void add_export(CLI::App& app, Action& chosen);
void add_anonymize(CLI::App& app, Action& chosen);
void add_recover(CLI::App& app, Action& chosen);
void add_schema(CLI::App& app, Action& chosen);
void add_predict(CLI::App& app, Action& chosen);
void add_doctor(CLI::App& app, Action& chosen);
void add_selftest(CLI::App& app, Action& chosen);
void add_version(CLI::App& app, Action& chosen);

// The command line as a whole: the verbs, their help, and what is said to a mistake in it.

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
