// gemm_tune [M N K]... [--product MxNxK:LDA,LDB,LDC]: every configuration of the engine beside the
// best of cuBLASLt's first 16 heuristics, or with --chosen only the one that the engine's table
// names for each product. Prints a table a product and writes all figures (--json) and the engine's
// table with what was found (--table) after each product, so that a run that is cut short has left
// what it knew.
#include <fmt/chrono.h>
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "ci/lab/gemm/products.hpp"
#include "ci/lab/gemm/tune.hpp"
#include "ci/lab/gemm/tune_report.hpp"
#include "kernels/cuda/check.hpp"
#include "kernels/cuda/gemm/tuning/choice.hpp"
#include "kernels/device.hpp"
#include "kernels/error.hpp"

namespace tidemark {
namespace {

using Json = nlohmann::ordered_json;

/// For what the table chose: no race, longer duels.
constexpr Effort kLastWord{.ranking_rounds = 3,
                           .race_rounds = 0,
                           .at_work = {.settle_s = 0.3, .measure_s = 1.2},
                           .pairs = 3,
                           .cool_pairs = 9};

/// The same for many products.
constexpr Effort kBrief{.ranking_rounds = 1,
                        .race_rounds = 0,
                        .at_work = {.settle_s = 0.2, .measure_s = 0.5},
                        .pairs = 3,
                        .cool_pairs = 5};

struct Options {
  std::vector<std::uint64_t> sizes;
  std::vector<std::string> products;
  std::vector<std::string> only, skip;
  std::string json, table, check;
  double time_limit_s = 900;
  bool list = false;
  bool chosen = false, brief = false;
  bool once = false;
  bool rates = false, sampled = false;
  bool pitched = false;
  bool a_m_major = false, b_n_major = false;
  bool fp8 = false, f16 = false;
};

GemmElement element_of(const Options& options) {
  if (options.f16) return GemmElement::f16;
  return options.fp8 ? GemmElement::e4m3 : GemmElement::bf16;
}

std::span<const EngineConfiguration> table_of(const Options& options) {
  return options.fp8 ? fp8_configurations() : engine_configurations();
}

bool is_in(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<EngineConfiguration> wanted(const Options& options) {
  std::vector<EngineConfiguration> all;
  for (const EngineConfiguration& configuration : table_of(options)) {
    const std::string name = name_of(configuration);
    if ((options.only.empty() || is_in(options.only, name)) && !is_in(options.skip, name))
      all.push_back(configuration);
  }
  if (all.empty()) throw UsageError("no configuration is left: gemm_tune --list names them");
  return all;
}

std::vector<Shape> shapes_of(const Options& options) {
  if (options.sizes.size() % 3 != 0) throw UsageError("sizes come in threes: gemm_tune [M N K]...");
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < options.sizes.size(); i += 3)
    shapes.push_back({options.sizes[i], options.sizes[i + 1], options.sizes[i + 2]});
  for (const std::string& product : options.products) shapes.push_back(shape_of(product));
  const bool all = shapes.empty() && !options.pitched && !options.sampled;
  const auto add = [&](std::span<const Shape> more) {
    shapes.insert(shapes.end(), more.begin(), more.end());
  };
  if (all) add(options.fp8 ? fp8_products() : usual_products());
  if (all && options.rates && !options.fp8) add(other_tabled_products());
  if (options.sampled) add(sampled_products());
  if ((all && !options.fp8 && !options.rates) || options.pitched) add(pitched_products());
  for (Shape& shape : shapes) {
    shape.a_major = options.a_m_major ? Major::mn : Major::k;
    shape.b_major = options.b_n_major ? Major::mn : Major::k;
    shape.element = element_of(options);
    require_sound(shape);
  }
  return shapes;
}

Json machine() {
  cudaDeviceProp properties{};
  int driver = 0;
  int device = 0;
  cuda_check(cudaGetDevice(&device), "ask for the current GPU");
  cuda_check(cudaGetDeviceProperties(&properties, device), "ask for the GPU's properties");
  cuda_check(cudaDriverGetVersion(&driver), "ask for the driver's version");
  return {{"gpu", properties.name},
          {"sms", properties.multiProcessorCount},
          {"cuda_driver", driver},
          {"cublaslt", cublasLtGetVersion()}};
}

/// The table of this build, for what `machine` is found to do best.
Json begun_table(const Json& machine) {
  Json table = Json::parse(kGemmTableText);
  const int driver = machine["cuda_driver"];
  table["measured"] = {
      {"gpu", machine["gpu"]},
      {"driver", fmt::format("CUDA {}.{}", driver / 1000, driver % 1000 / 10)},
      {"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
      {"run", "gemm_tune --table"}};
  return table;
}

/// Geometric means over the products that are not pitched, of what the table chose; without void
/// duels.
class Means {
 public:
  void add(const Tried* chosen) {
    if (chosen == nullptr) return;
    steady_.add(chosen->steady, is_void_steady(*chosen));
    cool_.add(chosen->cool, is_void(chosen->cool));
  }
  Json json() const {
    if (steady_.count == 0 || cool_.count == 0) return {};
    return {{"steady", steady_.mean()}, {"cool", cool_.mean()}};
  }

 private:
  struct Side {
    double logs = 0;
    int count = 0;

    void add(const DuelScore& score, bool is_void) {
      if (score.ratio <= 0 || is_void) return;
      logs += std::log(score.ratio);
      ++count;
    }
    double mean() const { return std::exp(logs / count); }
  };

  Side steady_, cool_;
};

std::vector<EngineConfiguration> tried_for(const Options& options, const Shape& shape) {
  if (options.chosen)
    return {chosen_configuration(embedded_gemm_table(),
                                 LocalGemm{.pitch = shape.lda,
                                           .m = shape.m,
                                           .n = shape.n,
                                           .k = shape.k,
                                           .output = output_of(shape.element),
                                           .element = shape.element,
                                           .a_major = shape.a_major,
                                           .b_major = shape.b_major,
                                           .b_pitch = shape.ldb != 0 ? shape.ldb : 16})};
  return wanted(options);
}

Effort effort_of(const Options& options) {
  if (!options.chosen) return {};
  return options.brief ? kBrief : kLastWord;
}

/// Exit code: 0, or 1 where a product has no exact configuration, or 4 where time ran out.
int tune_all(const Options& options, const std::vector<Shape>& shapes) {
  const auto start = std::chrono::steady_clock::now();
  const auto late = [&] {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    return passed.count() > options.time_limit_s;
  };
  Json report = {{"machine", machine()}, {"complete", false}, {"products", Json::array()}};
  Json table = begun_table(report["machine"]);
  Means means;
  int code = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (late()) {
      fmt::print("left out: {} products, the time limit of {:g} s has passed\n", shapes.size() - i,
                 options.time_limit_s);
      return 4;
    }
    const Tuned tuned = tune(shapes[i], tried_for(options, shapes[i]), effort_of(options));
    print(tuned);
    report["products"].push_back(json_of(tuned));
    if (!is_pitched(tuned.shape)) means.add(chosen_of(tuned));
    if (best_of(tuned) == nullptr) code = 1;
    put_choice(table, tuned);
    write_file(options.json, report.dump(1) + "\n");
    write_file(options.table, table_text(table));
  }
  if (const Json mean = means.json(); !mean.is_null()) {
    fmt::print("geometric mean of what the table chose over cuBLASLt: steady {:.4f}, cool {:.4f}\n",
               mean["steady"].get<double>(), mean["cool"].get<double>());
    report["geometric_mean"] = mean;
  }
  report["complete"] = true;
  write_file(options.json, report.dump(1) + "\n");
  return code;
}

/// A line a GEMM and configuration, to compare with another build's: TFLOP/s sustained and cool.
int print_rates(const Options& options, const std::vector<Shape>& shapes) {
  for (const Shape& shape : shapes) {
    const Product product = make_product(shape);
    for (const EngineConfiguration& configuration : tried_for(options, shape)) {
      const Launch launch = launch_of(product, configuration);
      launch();  // a kernel's first launch also loads it
      const double launch_ns = time_of(product, 3, launch);
      const AtWorkSample sustained =
          sample_at_work(product, launch, launch_ns, {.settle_s = 0.3, .measure_s = 0.5});
      std::vector<double> cool;
      for (int i = 0; i < 5; ++i) cool.push_back(sample_rested(product, launch, launch_ns, 0.1));
      const double operations = operations_of(shape) / 1e3;  // TFLOP/s of ns
      const bool timed_out = take_timed_out(product) != 0;
      fmt::print("{};{};{:.1f};{:.1f}\n", name_of(shape), name_of(configuration),
                 timed_out ? 0 : operations / sustained.ns,
                 timed_out ? 0 : operations / median(cool));
      std::fflush(stdout);
    }
  }
  return 0;
}

int check_one(const Options& options) {
  const std::string& name = options.check;
  for (const EngineConfiguration& configuration : table_of(options)) {
    if (name_of(configuration) != name) continue;
    const std::string wrong = check(configuration, element_of(options));
    fmt::print("{} {}\n", wrong.empty() ? "exact" : "WRONG",
               name + (wrong.empty() ? "" : ": ") + wrong);
    return wrong.empty() ? 0 : 1;
  }
  throw UsageError("there is no configuration '" + name + "': gemm_tune --list names them");
}

int run(const Options& options) {
  if (options.list) {
    for (const EngineConfiguration& configuration : table_of(options))
      fmt::print("{}\n", name_of(configuration));
    return 0;
  }
  const std::vector<Shape> shapes = shapes_of(options);  // a wrong one is said without a GPU, too
  if (visible_gpus().empty()) {
    fmt::print(stderr,
               "gemm_tune: CUDA shows no GPU here: run it on a machine with a Hopper GPU\n");
    return 5;
  }
  if (options.once) {
    for (const Shape& shape : shapes) launch_once(shape, tried_for(options, shape));
    return 0;
  }
  if (options.rates) return print_rates(options, shapes);
  return options.check.empty() ? tune_all(options, shapes) : check_one(options);
}

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) {
  tidemark::Options options;
  CLI::App app("gemm_tune: the engine's configurations beside cuBLASLt");
  app.add_option("sizes", options.sizes,
                 "M N K of each product; without any, eleven products and the pitched ones");
  app.add_option("--product", options.products,
                 "MxNxK or MxNxK:LDA,LDB,LDC in elements, 0: rows on 16 bytes; may be given again")
      ->allow_extra_args(false);
  app.add_flag("--pitched", options.pitched,
               "the six products with rows that start off 16 bytes, or off lines of L2");
  app.add_option("--time-limit", options.time_limit_s, "seconds after which no product is begun")
      ->check(CLI::Range(1.0, 1e6));
  app.add_option("--json", options.json, "file for all figures, rewritten after each product");
  app.add_option("--table", options.table,
                 "file for the engine's table with the best configuration of each product of bf16; "
                 "rewritten after each product");
  app.add_option("--only", options.only, "only this configuration; may be given again")
      ->allow_extra_args(false);
  app.add_option("--skip", options.skip, "all but this one; may be given again")
      ->allow_extra_args(false);
  app.add_option("--check", options.check, "one configuration on small products, no timing");
  app.add_flag("--chosen", options.chosen, "only what the engine's table names for each product");
  app.add_flag("--brief", options.brief, "shorter duels, for many products")->needs("--chosen");
  app.add_flag("--a-m-major", options.a_m_major, "A is kept as K rows of M elements");
  app.add_flag("--b-n-major", options.b_n_major, "B is kept as K rows of N elements");
  app.add_flag("--fp8", options.fp8,
               "A and B of e4m3, its own configurations; without sizes, three products");
  app.add_flag("--f16", options.f16, "A, B and C of f16")->excludes("--fp8");
  app.add_flag("--once", options.once,
               "launches each heuristic and each configuration once, for a profiler");
  app.add_flag("--sampled", options.sampled, "eight GEMMs of which the engine's table names none");
  app.add_flag("--rates", options.rates,
               "only rates, without cuBLASLt: GEMM;configuration;sustained;cool in TFLOP/s, to "
               "compare with those of another build");
  app.add_flag("--list", options.list, "names of all configurations");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    return tidemark::run(options);
  } catch (const tidemark::UsageError& error) {
    fmt::print(stderr, "gemm_tune: {}\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "gemm_tune: {}\n", error.what());
    return 1;
  }
}
