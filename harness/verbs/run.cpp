// tidemark run: runs cases on the GPUs and writes a report.
#include <memory>

#include <CLI/CLI.hpp>

#include "harness/verbs/launch_options.hpp"
#include "harness/verbs/verbs.hpp"

namespace tidemark::harness {

void add_run(CLI::App& app, Action& chosen, int argc, char** argv) {
  CLI::App* verb = app.add_subcommand("run", "Run cases on the GPUs and write a report");
  verb->footer("mpirun -n 8 tidemark run --level nightly --out night.h5");
  auto typed = std::make_shared<TypedLaunch>();
  RunOptions& options = typed->options;
  options.arguments.assign(argv, argv + argc);
  verb->add_option("--cases", options.cases, "Cases to run, by name or glob (all)")
      ->type_name("GLOB");
  add_launch_options(*verb, *typed);
  verb->add_option("--row", typed->row, "Run this row of the one case chosen")->type_name("N");
  verb->callback([typed, &chosen] { chosen = [typed] { return start_launch(*typed); }; });
}

}  // namespace tidemark::harness
