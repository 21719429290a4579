// tidemark run and bench: run cases on the GPUs and write a report.
#include <memory>
#include <string>
#include <vector>

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "harness/base/errors.hpp"
#include "harness/command_line/launch_options.hpp"
#include "harness/command_line/option_values.hpp"
#include "harness/launch.hpp"
#include "harness/mpirun.hpp"
#include "harness/plan.hpp"
#include "harness/replay/judged_program.hpp"
#include "harness/verbs/verbs.hpp"
#include "reports/policy/policy.hpp"

namespace tidemark {
namespace {

/// `options` with what was typed for this verb.
LaunchOptions with_typed(LaunchOptions options, const CLI::App& verb) {
  for (const LaunchField& field : launch_fields()) {
    const CLI::Option* const option = verb.get_option_no_throw(field.name);
    if (option == nullptr || option->count() == 0) continue;
    if (field.type.empty())  // a flag: --json=no is none, and CLI11 knows all words for yes and no
      field.read(options, {option->as<bool>() ? "true" : "false"});
    else
      field.read(options, option->results());
  }
  return options;
}

/// Throws UsageError where what was typed makes no sense, ReportError for a bad policy.
LaunchOptions understood(const LaunchOptions& usual, const CLI::App& verb) {
  LaunchOptions options = with_typed(usual, verb);
  if (options.device != DeviceChoice::automatic)
    check_transport(options.transport, options.device == DeviceChoice::cuda
                                           ? DeviceKind::cuda
                                           : DeviceKind::virtual_device);
  if (!options.gpus.empty())
    options.gpus = fmt::format("{}", fmt::join(items_of("--gpus", {options.gpus}), ","));
  options.product.shape = whole_shape(options.product.shape);
  if (options.ranks != 0) check_grid(options.product.grid, options.ranks);
  static_cast<void>(fails_on_outlier(options.fail_on));
  if (!options.fault.empty()) check_fault(options.fault, options.device);
  if (options.jit && options.device == DeviceChoice::virtual_device)
    throw UsageError("--jit: the virtual device has no compiled code; leave one of both out");
  // Under a launcher rank 0 alone may have the file; it reads it where all hear of it.
  if (!options.policy.empty() && !launcher_rank()) static_cast<void>(read_policy(options.policy));
  if (!options.resume.empty() && options.launches > 1)
    throw UsageError("--resume goes on with one launch; leave --launches out");
  make_plan(options);  // a mistyped glob is told before anything starts
  return options;
}

/// Adds the options of launches; `usual`: where none of them is given.
void add_launch_options(CLI::App& verb, const LaunchOptions& usual) {
  for (const LaunchField& field : launch_fields()) {
    if (usual.bench && (field.name == "--cases" || field.name == "--row")) continue;
    const std::string names = field.name == "--anonymize" ? "--anonymize,--anonymise" : field.name;
    const std::string help = fmt::format(fmt::runtime(field.help), field.text(usual));
    if (field.type.empty()) {
      verb.add_flag(names, help);
      continue;
    }
    CLI::Option* const option = verb.add_option(names, CLI::callback_t(), help);
    option->type_name(field.type);
    if (field.list) option->expected(CLI::detail::expected_max_vector_size);
  }
}

/// Runs the launches, or becomes an mpirun that does. Throws UsageError, EnvironmentError.
ExitCode start_launch(const LaunchOptions& options) {
  if (options.ranks == 0) return run_launch(options);
  if (launcher_rank())
    throw UsageError("--ranks starts mpirun itself; leave it out under mpirun or srun");
  const bool is_virtual = options.device == DeviceChoice::virtual_device;
  const std::vector<std::string> arguments(options.arguments.begin() + 1, options.arguments.end());
  return run_mpirun(arguments, options.ranks, is_virtual);
}

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
  const LaunchOptions usual{.arguments = {argv, argv + argc}};
  add_launch_options(*verb, usual);
  auto program = std::make_shared<std::string>();
  verb->add_option(
          "--program", *program,
          "Run this program, of 'replay --json', instead of cases; with --device, --gpus, --fault")
      ->type_name("FILE");
  verb->callback([usual, program, verb, &chosen] {
    if (program->empty()) {
      chosen = [options = understood(usual, *verb)] { return start_launch(options); };
      return;
    }
    chosen = [usual, program, verb] {
      refuse_launch_options(*verb);
      return run_program_file(*program, with_typed(usual, *verb));
    };
  });
}

void add_bench(CLI::App& app, Action& chosen, int argc, char** argv) {
  CLI::App* verb = app.add_subcommand(
      "bench", "Run benchmarks (after their correctness cases) and print results");
  verb->footer("tidemark bench gemm.ladder --out ladder.h5");
  auto usual = std::make_shared<LaunchOptions>(
      LaunchOptions{.level = Level::nightly, .bench = true, .arguments = {argv, argv + argc}});
  add_launch_options(*verb, *usual);
  // A name behind `--exclude GLOB` is one to run, not a second one to leave out.
  for (const char* several : {"--exclude", "--slow"})
    verb->get_option(several)->allow_extra_args(false);
  verb->add_option("benchmarks", usual->cases, "Benchmarks to run, by name or glob (all)")
      ->type_name("GLOB");
  verb->callback([usual, verb, &chosen] {
    usual->cases = items_of("bench", usual->cases);
    chosen = [options = understood(*usual, *verb)] { return start_launch(options); };
  });
}

}  // namespace tidemark
