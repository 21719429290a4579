// The verbs of the command line, one file each. A verb adds itself to the CLI11 application and
// says what to call when it was chosen.
#pragma once

#include <functional>

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

}  // namespace tidemark
