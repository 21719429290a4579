// tidemark predict: how long a distributed product should take, and what limits it.
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "harness/base/errors.hpp"
#include "harness/command_line/given_report.hpp"
#include "harness/command_line/option_values.hpp"
#include "harness/measured_rates.hpp"
#include "harness/verbs/verbs.hpp"
#include "reports/render/page.hpp"
#include "suite/gemm/predict_time.hpp"

namespace tidemark {
namespace {

constexpr std::uint32_t kMostEdge = 1 << 24;  // A alone has 512 TiB then
constexpr std::uint32_t kMostGpus = 4096;
constexpr std::string_view kFixedUs = "20";  // of a CUDA launch and a barrier, not measured
constexpr std::uint32_t kTableFrom = 8, kTableTo = 1024;

struct TypedPredict {
  std::string n, m, k, nodes = "1", gpus_per_node = "8";
  std::string report, rate, link, network, fixed_us;
  bool table = false, json = false;
};

/// A number of the model and where it is from; 0 where nothing says it.
struct Given {
  double value = 0;
  std::string from;
};

/// What was typed, understood.
struct AskedOfPredict {
  GemmShape shape;
  std::vector<std::uint32_t> gpus;  // a prediction each
  std::uint32_t gpus_per_node = 1;
  Given product, link, network, fixed;  // flop/s, bytes/s, bytes/s, s
};

std::uint64_t edge_of(std::string_view option, const std::string& text, std::uint64_t otherwise) {
  return text.empty() ? otherwise : count_of(option, text, 1, kMostEdge);
}

std::vector<std::uint32_t> gpus_of(const TypedPredict& typed, std::uint32_t gpus_per_node) {
  std::vector<std::uint32_t> gpus;
  if (typed.table) {
    for (std::uint32_t count = kTableFrom; count <= kTableTo; count *= 2) gpus.push_back(count);
    return gpus;
  }
  const std::uint32_t nodes = count_of("--nodes", typed.nodes, 1, kMostGpus);
  if (nodes > kMostGpus / gpus_per_node)
    throw UsageError(fmt::format("--nodes '{}': {} GPUs, {} a node; give at most {} GPUs",
                                 typed.nodes, nodes * gpus_per_node, gpus_per_node, kMostGpus));
  return {nodes * gpus_per_node};
}

Given given_or(const char* option, const std::string& text, std::string_view unit, double factor,
               const std::optional<MeasuredRate>& measured) {
  if (!text.empty()) return {.value = amount_of(option, text, unit) * factor, .from = option};
  return measured ? Given{.value = measured->value, .from = measured->from} : Given{};
}

/// `what`: "no rate of one GPU".
void require(const Given& given, const TypedPredict& typed, std::string_view what,
             std::string_view give) {
  if (given.value > 0) return;
  throw UsageError(typed.report.empty()
                       ? fmt::format("predict: {}; give {}, or a --report that has it", what, give)
                       : fmt::format("{}: {}; give {}", typed.report, what, give));
}

AskedOfPredict understood(const TypedPredict& typed) {
  AskedOfPredict asked;
  asked.shape.n = edge_of("--n", typed.n, 0);
  asked.shape.m = edge_of("--m", typed.m, asked.shape.n);
  asked.shape.k = edge_of("--k", typed.k, asked.shape.n);
  asked.gpus_per_node = count_of("--gpus-per-node", typed.gpus_per_node, 1, kMostGpus);
  asked.gpus = gpus_of(typed, asked.gpus_per_node);
  asked.network = given_or("--network", typed.network, "GB/s", 1e9, {});
  MeasuredRates measured;
  if (!typed.report.empty()) {
    const double edge =
        std::cbrt(static_cast<double>(asked.shape.m) * static_cast<double>(asked.shape.n) *
                  static_cast<double>(asked.shape.k));
    const Report report = given_report(typed.report);
    if (report.launch.is_virtual)
      throw UsageError(fmt::format(
          "{}: made on the virtual device, whose speed says nothing of GPUs; give a report of GPUs",
          typed.report));
    if (const std::string slowed = slowed_text(report); !slowed.empty())
      throw UsageError(fmt::format("{}: slowed on purpose, {}; give a report without --slow",
                                   typed.report, slowed));
    measured = measured_rates(report, edge);
  }
  asked.product = given_or("--rate", typed.rate, "TFLOP/s", 1e12, measured.product);
  asked.link = given_or("--link", typed.link, "GB/s", 1e9, measured.link);
  if (!typed.fixed_us.empty() || !measured.fixed)
    asked.fixed = {
        .value =
            amount_of("--fixed-us", typed.fixed_us.empty() ? std::string(kFixedUs) : typed.fixed_us,
                      "microseconds", true) *
            1e-6,
        .from = typed.fixed_us.empty() ? "default, not measured" : "--fixed-us"};
  else
    asked.fixed = {.value = measured.fixed->value, .from = measured.fixed->from};
  require(asked.product, typed, "no rate of one GPU", "--rate TFLOPS");
  const std::uint32_t most = asked.gpus.back();
  if (most > 1 && asked.gpus_per_node > 1)
    require(asked.link, typed,
            measured.no_link.empty()
                ? "no rate of a link within one node"
                : fmt::format("no rate of a link within one node, since {}", measured.no_link),
            "--link GB/s");
  // Nothing crosses one, and rates of predict_time() are above 0.
  if (asked.gpus_per_node == 1 && asked.link.from.empty())
    asked.link.value = std::numeric_limits<double>::infinity();
  if (most > asked.gpus_per_node && !(asked.network.value > 0))
    throw UsageError(
        fmt::format("{} GPUs, {} a node, need a network; give --network GB/s, what a GPU receives "
                    "from other nodes",
                    most, asked.gpus_per_node));
  return asked;
}

std::string size_text(const GemmShape& shape) {
  return fmt::format("{} x {} x {} (m x n x k), bf16", shape.m, shape.n, shape.k);
}

std::string gpu_grid_text(const Grid& grid) { return fmt::format("{} x {}", grid.rows, grid.cols); }

std::string teraflops(double flops) {
  return flops < 1e14 ? fmt::format("{:.3g}", flops * 1e-12) : fmt::format("{:.0f}", flops * 1e-12);
}

std::string milliseconds(double seconds) { return fmt::format("{:.4g} ms", seconds * 1e3); }

/// The rates that were used, a line each.
std::string sources_of(const AskedOfPredict& asked) {
  std::string made;
  const auto add = [&](const Given& given, double unit, const char* name) {
    if (!given.from.empty())
      made += fmt::format("  {:.4g} {}: {}\n", given.value / unit, name, printable(given.from));
  };
  add(asked.product, 1e12, "TFLOP/s a GPU");
  add(asked.link, 1e9, "GB/s a GPU from its node");
  add(asked.network, 1e9, "GB/s a GPU from other nodes");
  add(asked.fixed, 1e-6, "us fixed cost");
  return "from\n" + made;
}

std::string text_of(const PredictedTime& time, const AskedOfPredict& asked) {
  return fmt::format(
      "C = A B, {}, on {}, {}, grid {}\n"
      "time        {}\n"
      "rate        {} TFLOP/s\n"
      "efficiency  {:.1f} %\n"
      "bottleneck  {}\n"
      "busy: product {}, link {}, network {}, fixed cost {}; waiting for panels {}\n{}",
      size_text(asked.shape), plural(time.ranks, "GPU"), plural(time.nodes, "node"),
      gpu_grid_text(time.grid), milliseconds(time.seconds), teraflops(time.flops),
      time.efficiency * 100, name_of(time.bottleneck), milliseconds(time.product_s),
      milliseconds(time.link_s), milliseconds(time.network_s), milliseconds(time.fixed_s),
      milliseconds(time.wait_s), sources_of(asked));
}

std::string table_of(const std::vector<PredictedTime>& times, const AskedOfPredict& asked) {
  std::string made = fmt::format("C = A B, {}, {} a node\n", size_text(asked.shape),
                                 plural(asked.gpus_per_node, "GPU"));
  made += fmt::format("{:>5}  {:>5}  {:>7}  {:>10}  {:>9}  {:>10}  {}\n", "GPUs", "nodes", "grid",
                      "ms", "TFLOP/s", "efficiency", "bottleneck");
  for (const PredictedTime& time : times) {
    made += fmt::format("{:>5}  {:>5}  {:>7}  {:>10.4g}  {:>9}  {:>8.1f} %  {}\n", time.ranks,
                        time.nodes, gpu_grid_text(time.grid), time.seconds * 1e3,
                        teraflops(time.flops), time.efficiency * 100, name_of(time.bottleneck));
  }
  return made + sources_of(asked);
}

nlohmann::ordered_json json_of(const Given& given) {
  if (given.from.empty()) return nullptr;
  return {{"value", given.value}, {"from", given.from}};
}

std::string json_of(const std::vector<PredictedTime>& times, const AskedOfPredict& asked) {
  nlohmann::ordered_json json = {{"m", asked.shape.m},
                                 {"n", asked.shape.n},
                                 {"k", asked.shape.k},
                                 {"gpus_per_node", asked.gpus_per_node},
                                 {"flops_per_gpu", json_of(asked.product)},
                                 {"link_bytes_per_s", json_of(asked.link)},
                                 {"network_bytes_per_s", json_of(asked.network)},
                                 {"fixed_s", asked.fixed.value},
                                 {"predictions", nlohmann::ordered_json::array()}};
  for (const PredictedTime& time : times) {
    json["predictions"].push_back({{"gpus", time.ranks},
                                   {"nodes", time.nodes},
                                   {"grid", {time.grid.rows, time.grid.cols}},
                                   {"seconds", time.seconds},
                                   {"flops", time.flops},
                                   {"efficiency", time.efficiency},
                                   {"bottleneck", name_of(time.bottleneck)},
                                   {"product_s", time.product_s},
                                   {"link_s", time.link_s},
                                   {"network_s", time.network_s},
                                   {"fixed_s", time.fixed_s},
                                   {"wait_s", time.wait_s}});
  }
  return json.dump(2) + '\n';
}

ExitCode predict(const TypedPredict& typed) {
  const AskedOfPredict asked = understood(typed);
  std::vector<PredictedTime> times;
  for (const std::uint32_t gpus : asked.gpus)
    times.push_back(predict_time(asked.shape, gpus,
                                 {.product = asked.product.value,
                                  .link = asked.link.value,
                                  .network = asked.network.value,
                                  .fixed_s = asked.fixed.value,
                                  .gpus_per_node = asked.gpus_per_node}));
  print_out(typed.json    ? json_of(times, asked)
            : typed.table ? table_of(times, asked)
                          : text_of(times.front(), asked));
  return ExitCode::ok;
}

}  // namespace

void add_predict(CLI::App& app, Action& chosen) {
  CLI::App* verb = app.add_subcommand(
      "predict", "Predict time, efficiency and bottleneck of the distributed GEMM");
  verb->footer("tidemark predict --n 32768 --nodes 2 --report night.h5 --network 46");
  auto typed = std::make_shared<TypedPredict>();
  verb->add_option("--n", typed->n, "Columns of C = A B, in bf16; K is not split among GPUs")
      ->required()
      ->type_name("N");
  verb->add_option("--m", typed->m, "Rows of C (N)")->type_name("N");
  verb->add_option("--k", typed->k, "Columns of A (N)")->type_name("N");
  CLI::Option* const nodes =
      verb->add_option("--nodes", typed->nodes, "How many nodes (1)")->type_name("N");
  verb->add_option("--gpus-per-node", typed->gpus_per_node,
                   "GPUs of each, consecutive ranks; all GPUs are equal (8)")
      ->type_name("N");
  verb->add_option(
          "--report", typed->report,
          "Take --rate, --link and --fixed-us from its gemm.distributed.speed, or --rate from its "
          "gemm.local.speed, at the nearest size")
      ->type_name("FILE");
  verb->add_option("--rate", typed->rate,
                   "Of one GPU: it multiplies tiles of 256 x 256 at this rate as soon as their "
                   "panels are there, and copies do not slow it")
      ->type_name("TFLOPS");
  verb->add_option("--link", typed->link, "What a GPU receives from its node; both panels share it")
      ->type_name("GB/s");
  verb->add_option("--network", typed->network,
                   "What a GPU receives from other nodes: a byte crosses once for a node, spread "
                   "over its GPUs, then the link")
      ->type_name("GB/s");
  verb->add_option("--fixed-us", typed->fixed_us,
                   fmt::format("Barrier, launch and first copy, on more than one GPU (of --report, "
                               "else {}, not measured)",
                               kFixedUs))
      ->type_name("US");
  verb->add_flag("--table", typed->table,
                 fmt::format("{} to {} GPUs, by powers of two", kTableFrom, kTableTo))
      ->excludes(nodes);
  verb->add_flag("--json", typed->json, "As JSON");
  verb->callback([typed, &chosen] { chosen = [typed] { return predict(*typed); }; });
}

}  // namespace tidemark
