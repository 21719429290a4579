// tidemark tune: which configuration of the GEMM engine suits each product on this GPU, as a table
// that run --gemm-table takes.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "harness/command_line/option_values.hpp"
#include "harness/command_line/output_file.hpp"
#include "harness/discovery/one_gpu.hpp"
#include "harness/errors.hpp"
#include "harness/supervisor/clock.hpp"
#include "harness/tuning/given_gemm_table.hpp"
#include "harness/tuning/tuned_table.hpp"
#include "harness/tuning/tuner.hpp"
#include "harness/tuning/tuning_run.hpp"
#include "harness/verbs/verbs.hpp"
#include "harness/version.hpp"
#include "kernels/error.hpp"
#include "reports/store/replace_file.hpp"
#include "reports/utc.hpp"

namespace tidemark::harness {
namespace {

constexpr std::string_view kRoom = "free some space or give another --out";

struct TypedTune {
  std::vector<std::string> products;
  std::string out, device = "auto", gpus, time_limit, gemm_table;
  bool list = false;
};

/// What was typed, understood.
struct AskedOfTune {
  GemmTable present;
  std::string table_hash;
  std::vector<GemmShape> products;
  double time_limit_s = 0;  // 0: none
  RunOptions options;       // of it --device and --gpus
};

std::vector<GemmShape> products_of(const TypedTune& typed, const GemmTable& present) {
  std::vector<GemmShape> products;
  for (const std::string& text : typed.products) {
    products.push_back(product_of(text));
    if (std::count(products.begin(), products.end(), products.back()) > 1)
      throw UsageError(fmt::format("--product '{}': was given before; give it once", text));
  }
  if (!products.empty()) return products;
  for (const GemmChoice& choice : present.choices) products.push_back(choice.product);
  return products;
}

AskedOfTune understood(const TypedTune& typed) {
  if (typed.out.empty()) throw UsageError("tune needs --out FILE: the table that it makes");
  AskedOfTune asked;
  asked.present = given_gemm_table(typed.gemm_table);
  asked.table_hash = hash_of(asked.present);
  asked.products = products_of(typed, asked.present);
  if (!typed.time_limit.empty()) asked.time_limit_s = seconds_of("--time-limit", typed.time_limit);
  asked.options.device = device_of(typed.device);
  asked.options.gpus = typed.gpus;
  asked.options.gemm_table = typed.gemm_table;
  check_one_gpu("tune", asked.options);
  check_replaceable(typed.out, "a file");
  static_cast<void>(TemporaryFile(typed.out, kRoom));  // so that no hour of tuning ends without
  return asked;
}

/// The GPU that is tuned. Throws EnvironmentError where there is none that can be.
GpuRecord chosen_gpu(const AskedOfTune& asked) {
  if (!chooses_gpu(asked.options.device))
    throw EnvironmentError(
        "tune: there is nothing to tune on the virtual device, whose products have no "
        "configurations; run it on a machine with a Hopper GPU");
  return one_gpu("tune", asked.options);
}

std::size_t count_of(const std::vector<DecidedProduct>& all, TuningVerdict::Kind kind) {
  return static_cast<std::size_t>(std::count_if(
      all.begin(), all.end(), [&](const auto& one) { return one.verdict.kind == kind; }));
}

/// Tries all products in a worker of their own, and prints as it goes.
TuningRun run_on(const GpuRecord& gpu, const AskedOfTune& asked) {
  std::optional<Tuner> tuner;
  try {
    tuner.emplace(WorkerStart{.visible_gpu = gpu.uuid},
                  SetupOrder{.device = DeviceKind::cuda,
                             .gemm_table = asked.options.gemm_table,
                             .gemm_table_hash = asked.table_hash});
  } catch (const Error& refused) {
    throw EnvironmentError(fmt::format("tune: {}", refused.what()));
  }
  print_out(decision_heading());
  return tune_all(
      asked.present, asked.products, asked.time_limit_s, monotonic_s,
      [&](const GemmShape& product, double seconds) { return tuner->tune(product, seconds); },
      [](const DecidedProduct& one) { print_out(decision_text(one)); });
}

ExitCode tune(const TypedTune& typed) {
  if (typed.list) {
    print_out(fmt::format("{}\n", fmt::join(gemm_configuration_names(), "\n")));
    return ExitCode::ok;
  }
  const AskedOfTune asked = understood(typed);
  const GpuRecord gpu = chosen_gpu(asked);
  print_out(fmt::format("{}{}{}: {} product{} beside table {} ({})\n", gpu.name,
                        gpu.driver.empty() ? "" : ", driver ", gpu.driver, asked.products.size(),
                        asked.products.size() == 1 ? "" : "s", asked.present.name,
                        asked.table_hash));
  const std::string date = utc_text(unix_s());
  const TuningRun run = run_on(gpu, asked);
  const std::vector<DecidedProduct>& all = run.decided;
  if (!run.believed) {
    print_error(fmt::format("tune: {}; {} was not written", run.ended, typed.out));
    return run.code;
  }
  const BuildVersion build = build_version();
  const GemmTable made = tuned_table(asked.present, all,
                                     {.gpu = gpu.name,
                                      .driver = gpu.driver,
                                      .date = date,
                                      .git = std::string(build.git_hash),
                                      .run = fmt::format("tidemark {} tune", build.version)});
  replace_file(typed.out, json_of(made));
  print_out(fmt::format("{} replaced, {} kept, {} cannot be told, {} left out: {} ({})\n",
                        count_of(all, TuningVerdict::Kind::replaced),
                        count_of(all, TuningVerdict::Kind::kept),
                        count_of(all, TuningVerdict::Kind::undecided),
                        asked.products.size() - all.size(), typed.out, hash_of(made)));
  if (!run.ended.empty()) print_error("tune: " + run.ended);
  return run.code;
}

}  // namespace

void add_tune(CLI::App& app, Action& chosen) {
  CLI::App* verb = app.add_subcommand(
      "tune", "Find which configurations of the GEMM engine suit one GPU; write them as a table");
  verb->footer("tidemark tune --out h200.json && tidemark run --gemm-table h200.json");
  auto typed = std::make_shared<TypedTune>();
  verb->add_option("--out", typed->out, "The table; replaces this file in one step")
      ->type_name("FILE");
  verb->add_option("--product", typed->products,
                   "C m x n over k; may be given again (those of the table in use)")
      ->type_name("MxNxK")
      ->allow_extra_args(false);
  verb->add_option("--gemm-table", typed->gemm_table,
                   "The table to hold them against, and to take the rest from (that of the build)")
      ->type_name("FILE");
  verb->add_option("--time-limit", typed->time_limit,
                   "Share this time among the products: 90, 5m, 1.5h (45 s each)")
      ->type_name("TIME");
  verb->add_option("--device", typed->device, "What is tuned (auto)")->type_name("auto|cuda");
  verb->add_option("--gpus", typed->gpus, "Index or UUID of the GPU (the first)")
      ->type_name("LIST");
  verb->add_flag("--list", typed->list, "Print the names of all configurations and leave");
  verb->callback([typed, &chosen] { chosen = [typed] { return tune(*typed); }; });
}

}  // namespace tidemark::harness
