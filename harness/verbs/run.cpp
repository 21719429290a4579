// tidemark run and bench: run cases on the GPUs and write a report.
#include <memory>
#include <string>
#include <vector>

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "harness/base/errors.hpp"
#include "harness/command_line/option_values.hpp"
#include "harness/launch.hpp"
#include "harness/mpirun/mpirun.hpp"
#include "harness/plan.hpp"
#include "harness/series.hpp"
#include "harness/verbs/program_devices.hpp"
#include "harness/verbs/verbs.hpp"
#include "reports/compare/speed/noise.hpp"
#include "reports/policy/policy.hpp"

namespace tidemark::harness {
namespace {

/// What was typed, before it is understood.
struct TypedLaunch {
  LaunchOptions options;
  std::string level = "quick", device = "auto", transport = "auto";
  std::string seed, time_limit, row, ranks, launches, expect_gpus;  // empty: not given
  std::string m, n, k, grid;                                        // likewise
  std::vector<std::string> slow;
};

/// mpirun takes any number and then all memory of the machine. Larger fleets start mpirun
/// themselves, over their hosts.
constexpr std::uint32_t kMostRanks = 1024;

void read_launches(const TypedLaunch& typed, LaunchOptions& options) {
  if (options.calibrate) options.launches = kUsualCalibrating;
  if (!typed.launches.empty())
    options.launches = count_of("--launches", typed.launches, 1, kMostLaunches);
  if (options.calibrate && options.launches < kFewestCalibrating)
    throw UsageError(
        fmt::format("--calibrate needs at least {} launches to tell what they differ "
                    "by; give --launches {} or leave it out",
                    kFewestCalibrating, kUsualCalibrating));
}

/// Throws UsageError where what was typed makes no sense, ReportError for a bad policy.
LaunchOptions understood(const TypedLaunch& typed) {
  LaunchOptions options = typed.options;
  options.level = level_of(typed.level);
  options.cases = items_of(options.bench ? "bench" : "--cases", options.cases);
  options.exclude = items_of("--exclude", options.exclude);
  if (!options.gpus.empty())
    options.gpus = fmt::format("{}", fmt::join(items_of("--gpus", {options.gpus}), ","));
  options.device = device_of(typed.device);
  options.transport = transport_of(typed.transport);
  if (options.device != DeviceChoice::automatic)
    check_transport(options.transport, options.device == DeviceChoice::cuda
                                           ? DeviceKind::cuda
                                           : DeviceKind::virtual_device);
  options.product.shape = shape_of(typed.m, typed.n, typed.k);
  if (!typed.grid.empty()) options.product.grid = grid_of(typed.grid);
  options.seed_given = !typed.seed.empty();
  if (options.seed_given) options.seed = seed_of(typed.seed);
  if (!typed.time_limit.empty())
    options.time_limit_s = seconds_of("--time-limit", typed.time_limit);
  if (!typed.row.empty()) options.row = count_of("--row", typed.row, 0);
  if (!typed.expect_gpus.empty())
    options.expect_gpus = count_of("--expect-gpus", typed.expect_gpus, 1, kMostRanks);
  if (!typed.ranks.empty()) options.ranks = count_of("--ranks", typed.ranks, 1, kMostRanks);
  if (options.ranks != 0) check_grid(options.product.grid, options.ranks);
  if (!options.fault.empty()) check_fault(options.fault, options.device);
  // Under a launcher rank 0 alone may have the file; it reads it where all hear of it.
  if (!options.policy.empty() && !launcher_rank()) static_cast<void>(read_policy(options.policy));
  read_launches(typed, options);
  if (!options.resume.empty() && options.launches > 1)
    throw UsageError("--resume goes on with one launch; leave --launches and --calibrate out");
  for (const std::string& text : typed.slow) {
    if (!options.slow.insert(slow_of(text)).second)
      throw UsageError(fmt::format("--slow '{}': this case was given before; give it once", text));
  }
  make_plan(options);  // a mistyped glob is told before anything starts
  return options;
}

/// Adds the options that both verbs take. `typed` has to outlive the parsing; its level is what
/// --level is without being given.
void add_launch_options(CLI::App& verb, TypedLaunch& typed) {
  LaunchOptions& options = typed.options;
  verb.add_option("--exclude", options.exclude, "Cases to leave out")->type_name("GLOB");
  verb.add_option("--level", typed.level,
                  fmt::format("How many cases and rows run ({})", typed.level))
      ->type_name(level_names());
  verb.add_option("--device", typed.device,
                  "What cases run on: GPUs (auto, cuda), or the virtual device")
      ->type_name(device_names());
  verb.add_option("--gpus", options.gpus,
                  "Indexes or UUIDs, with commas; virtual device: how many (all)")
      ->type_name("LIST");
  verb.add_option("--expect-gpus", typed.expect_gpus,
                  "Exit code 5 where a node has fewer usable GPUs (whatever is there)")
      ->type_name("N");
  verb.add_flag(
      "--strict-gpus", options.strict_gpus,
      "Exit code 5 for a GPU that is missing, in use, MIG or no Hopper; else it is left out");
  verb.add_option("--transport", typed.transport,
                  "How the panels of distributed GEMMs travel (auto: the best that all GPUs allow)")
      ->type_name(transport_names());
  verb.add_option("--n", typed.n,
                  "Size of the GEMM of gemm.distributed.speed, square; also checked with integers "
                  "(8192, nightly also 16384)")
      ->type_name("N");
  verb.add_option("--m", typed.m, "Rows of C, with --n for its columns (as --n)")->type_name("N");
  verb.add_option("--k", typed.k, "Columns of A, with --n (as --n)")->type_name("N");
  verb.add_option("--grid", typed.grid,
                  "Rows x columns of GPUs of distributed GEMMs, such as 2x4 (fewest bytes moved)")
      ->type_name("RxC");
  verb.add_option("--seed", typed.seed, "Of all inputs, decimal or 0x... (random)")->type_name("N");
  verb.add_option("--out", options.out, "The report (tidemark-<host>-<UTC>.h5)")->type_name("FILE");
  verb.add_option("--resume", options.resume,
                  "Run only what has no outcome in these journals (X.h5.run) of an interrupted "
                  "launch; repeat its arguments")
      ->type_name("DIR");
  verb.add_flag("--json", options.json, "End with one line of JSON instead of text");
  verb.add_option("--time-limit", typed.time_limit, "Stop after this time: 90, 5m, 1.5h")
      ->type_name("TIME");
  verb.add_flag("--dry-run", options.dry_run, "Print the plan and leave");
  verb.add_flag("--anonymize,--anonymise", options.anonymize,
                "Hash hosts, serials and UUIDs; leave out texts of other programs");
  verb.add_flag("--strict", options.strict, "A pass that a waiver names is a failure");
  verb.add_option("--policy", options.policy, "JSON with waivers of known failures")
      ->type_name("FILE");
  verb.add_option("--ranks", typed.ranks, "Start mpirun with so many ranks")->type_name("N");
  verb.add_option("--launches", typed.launches,
                  "So many launches one after the other: --out X.h5 gives X-1.h5, X-2.h5 ...")
      ->type_name("K");
  verb.add_flag("--calibrate", options.calibrate,
                "Store in the reports what launches differ by without any change (5 launches)");
  verb.add_option("--slow", typed.slow,
                  "Slow a benchmark on purpose, to see that compare finds it: gemm.local.speed=3%")
      ->type_name("CASE=SHARE");
  verb.add_option("--fault", options.fault, "Build this fault into the virtual device")
      ->type_name("NAME");
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
  auto typed = std::make_shared<TypedLaunch>();
  LaunchOptions& options = typed->options;
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
      LaunchOptions devices = typed->options;
      devices.device = device_of(typed->device);
      return run_program_file(*program, devices);
    };
  });
}

void add_bench(CLI::App& app, Action& chosen, int argc, char** argv) {
  CLI::App* verb = app.add_subcommand(
      "bench", "Run benchmarks (after their correctness cases) and print results");
  verb->footer("tidemark bench gemm.ladder --out ladder.h5");
  auto typed = std::make_shared<TypedLaunch>();
  typed->level = "nightly";
  LaunchOptions& options = typed->options;
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
