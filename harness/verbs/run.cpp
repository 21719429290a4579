// tidemark run: runs cases on the GPUs and writes a report.
#include <memory>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "harness/base/errors.hpp"
#include "harness/command_line/option_values.hpp"
#include "harness/verbs/launch_options.hpp"
#include "harness/verbs/program_devices.hpp"
#include "harness/verbs/verbs.hpp"

namespace tidemark::harness {
namespace {

// Options that mean nothing to a program. CLI11's excludes() would name all of them in the help.
void refuse_launch_options(const CLI::App& verb) {
  for (const CLI::Option* option : verb.get_options()) {
    const std::string name = option->get_name();
    if (option->count() == 0 || name == "--program" || name == "--device" || name == "--gpus" ||
        name == "--fault")
      continue;
    throw UsageError(fmt::format(
        "run: {} does not go with --program, which takes --device, --gpus and --fault", name));
  }
}

}  // namespace

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
  auto program = std::make_shared<std::string>();
  verb->add_option(
          "--program", *program,
          "Run this program, of 'replay --json', instead of cases; with --device, --gpus, --fault")
      ->type_name("FILE");
  verb->callback([typed, program, verb, &chosen] {
    if (program->empty()) {
      chosen = [options = understood(*typed)] { return start_launch(options); };
      return;
    }
    chosen = [typed, program, verb] {
      refuse_launch_options(*verb);
      RunOptions devices = typed->options;
      devices.device = device_of(typed->device);
      return run_program_file(*program, devices);
    };
  });
}

}  // namespace tidemark::harness
