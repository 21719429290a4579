// tidemark bench: times what is named, and prints its numbers beside the report.
#include <memory>

#include <CLI/CLI.hpp>

#include "harness/verbs/launch_options.hpp"
#include "harness/verbs/verbs.hpp"

namespace tidemark::harness {

void add_bench(CLI::App& app, Action& chosen, int argc, char** argv) {
  CLI::App* verb = app.add_subcommand(
      "bench", "Run benchmarks (after their correctness cases) and print results");
  verb->footer("tidemark bench gemm.ladder --out ladder.h5");
  auto typed = std::make_shared<TypedLaunch>();
  typed->level = "nightly";
  RunOptions& options = typed->options;
  options.bench = true;
  options.arguments.assign(argv, argv + argc);
  add_launch_options(*verb, *typed);
  // A name behind `--exclude GLOB` is one to run, not a second one to leave out.
  for (const char* several : {"--exclude", "--slow"})
    verb->get_option(several)->allow_extra_args(false);
  verb->add_option("benchmarks", options.cases, "Benchmarks to run, by name or glob (all)")
      ->type_name("GLOB");
  verb->callback([typed, &chosen] {
    chosen = [options = understood(*typed)] { return start_launch(options); };
  });
}

}  // namespace tidemark::harness
