// gemm_tune [M N K]... [--product MxNxK:LDA,LDB,LDC]: every configuration of the engine beside the
// best of cuBLASLt's first 16 heuristics, or with --chosen only the one that the engine's table
// names for each product. Prints a table a product and writes all figures as JSON after each
// product, so that a run that is cut short has left what it knew.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/gemm/opponent/products.hpp"
#include "kernels/cuda/gemm/opponent/tune.hpp"
#include "kernels/device.hpp"
#include "kernels/error.hpp"

namespace tidemark {
namespace {

using Json = nlohmann::ordered_json;

/// For what the table chose: no race, longer duels.
constexpr Effort kLastWord{.race_rounds = 0, .settle_s = 0.4, .pairs = 7, .cool_pairs = 9};

constexpr int kDrawRounds = 3;

struct Options {
  std::vector<std::uint64_t> sizes;
  std::vector<std::string> products;
  std::vector<std::string> only, skip;
  std::string json, check;
  double time_limit_s = 480;
  bool list = false;
  bool chosen = false;
  bool once = false;
  bool pitched = false;
  bool draw = false;
  bool a_m_major = false, b_n_major = false;
};

/// Whether there is more than one configuration for its products.
bool is_plain(const Options& options) { return !options.a_m_major && !options.b_n_major; }

bool is_in(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<EngineConfiguration> wanted(const Options& options) {
  std::vector<EngineConfiguration> all;
  for (const EngineConfiguration& configuration : engine_configurations()) {
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
  const bool all = shapes.empty() && !options.pitched;
  const auto add = [&](std::span<const Shape> more) {
    shapes.insert(shapes.end(), more.begin(), more.end());
  };
  if (all) add(usual_products());
  if (all || options.pitched) add(pitched_products());
  for (Shape& shape : shapes) {
    shape.a_major = options.a_m_major ? Major::mn : Major::k;
    shape.b_major = options.b_n_major ? Major::mn : Major::k;
    require_sound(shape);
  }
  return shapes;
}

/// The chip changed more between two runs of the opponent than the figure is worth.
bool is_void(const DuelScore& score) { return std::abs(score.drift) > kVoidDrift; }

Json json_of(const DuelScore& score, double operations) {
  return {{"ours_tflops", operations / score.ours_ns},
          {"theirs_tflops", operations / score.theirs_ns},
          {"ratio", score.ratio},
          {"spread", score.spread},
          {"drift", score.drift},
          {"void", is_void(score)}};
}

/// What NVML does not say is null.
Json json_of(const Draw& draw) {
  return {{"watts", draw.watts},
          {"joules", draw.joules},
          {"sm_mhz", draw.sm_mhz},
          {"temperature_c", draw.temperature},
          {"tensor_use", draw.tensor_use}};
}

Json json_of(const Shape& shape) {
  Json json = {{"m", shape.m}, {"n", shape.n}, {"k", shape.k}};
  if (is_pitched(shape)) json.update({{"lda", shape.lda}, {"ldb", shape.ldb}, {"ldc", shape.ldc}});
  if (shape.a_major == Major::mn) json["a_major"] = "m";
  if (shape.b_major == Major::mn) json["b_major"] = "n";
  return json;
}

/// Our rate over that of the neighbour.
Json beside(const DuelScore& score) {
  return {{"ratio", score.ratio}, {"drift", score.drift}, {"void", is_void(score)}};
}

Json json_of(const Tuned& tuned) {
  const double operations = operations_of(tuned.shape) * 1e-3;
  Json tried = Json::array();
  for (const Tried& one : tuned.tried) {
    Json entry = {{"name", one.name}, {"exact", one.trouble.empty()}, {"race", one.race}};
    if (!one.trouble.empty()) entry["trouble"] = one.trouble;
    if (one.steady.ratio > 0) entry["steady"] = json_of(one.steady, operations);
    if (one.cool.ratio > 0) entry["cool"] = json_of(one.cool, operations);
    if (one.draws.ours.sm_mhz > 0)
      entry["draw"] = {{"ours", json_of(one.draws.ours)}, {"theirs", json_of(one.draws.theirs)}};
    tried.push_back(std::move(entry));
  }
  const Tried* const best = best_of(tuned);
  const Tried* const chosen = chosen_of(tuned);
  Json json = json_of(tuned.shape);
  if (is_pitched(tuned.shape)) {
    json["neighbour"] = json_of(neighbour_of(tuned.shape));
    if (tuned.beside_steady.ratio > 0) {
      json["neighbour"]["steady"] = beside(tuned.beside_steady);
      json["neighbour"]["cool"] = beside(tuned.beside_cool);
    }
  }
  json.update({{"heuristics", tuned.heuristics},
               {"best_heuristic", tuned.best},
               {"cublaslt_first", operations / tuned.first_ns},
               {"seconds", tuned.seconds},
               {"best", best == nullptr ? Json() : Json(best->name)},
               {"chosen", chosen == nullptr ? Json() : Json(chosen->name)},
               {"configurations", tried}});
  return json;
}

/// Replaces the file at once: a reader never sees half of it.
void write_json(const std::string& path, const Json& json) {
  if (path.empty()) return;
  const std::string unfinished = path + ".part";
  std::ofstream out(unfinished);
  out << json.dump(1) << '\n';
  out.close();
  if (!out || std::rename(unfinished.c_str(), path.c_str()) != 0)
    throw Error("cannot write " + path + ": give --json a file in a folder that can be written");
}

void print(const char* what, const DuelScore& score, double operations) {
  fmt::print("  {:<6} {:>6.1f} to {:>6.1f} TFLOP/s  {:.4f} +- {:.4f}  drift {:+.4f}{}", what,
             operations / score.ours_ns, operations / score.theirs_ns, score.ratio,
             score.spread / 2, score.drift, is_void(score) ? " VOID" : "");
}

void print(const char* whose, const Draw& draw) {
  fmt::print(
      "\n {:<41}{:<6} {:.0f} W, {:.4f} J, {:.0f} MHz, {:.0f} C, {:.1f} % of the tensor cores", "",
      whose, draw.watts, draw.joules, draw.sm_mhz, draw.temperature, 100 * draw.tensor_use);
}

void print(const Tuned& tuned) {
  const double operations = operations_of(tuned.shape) * 1e-3;
  fmt::print("{}: heuristic {} of {}, {:.1f} s\n", name_of(tuned.shape), tuned.best,
             tuned.heuristics, tuned.seconds);
  std::vector<const Tried*> order;
  for (const Tried& tried : tuned.tried)
    if (!tried.trouble.empty())
      fmt::print("  {:<44} {}\n", tried.name, tried.trouble);
    else if (tried.steady.ratio > 0)
      order.push_back(&tried);
  std::sort(order.begin(), order.end(), [](const Tried* left, const Tried* right) {
    return left->steady.ratio > right->steady.ratio;
  });
  for (const Tried* tried : order) {
    fmt::print(" {}{:<40}", tried->chosen ? '*' : ' ', tried->name);
    print("steady", tried->steady, operations);
    if (tried->cool.ratio > 0) {
      fmt::print("\n {:<41}", "");
      print("cool", tried->cool, operations);
    }
    if (tried->draws.ours.sm_mhz > 0) {
      print("ours", tried->draws.ours);
      print("theirs", tried->draws.theirs);
    }
    fmt::print("\n");
  }
  if (tuned.beside_steady.ratio > 0)
    fmt::print("  rate over that of {}: steady {:.4f}, drift {:+.4f}; cool {:.4f}, drift {:+.4f}\n",
               name_of(neighbour_of(tuned.shape)), tuned.beside_steady.ratio,
               tuned.beside_steady.drift, tuned.beside_cool.ratio, tuned.beside_cool.drift);
  std::fflush(stdout);
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

/// Geometric means over the products that are not pitched, of what the table chose.
class Means {
 public:
  void add(const Tried* chosen) {
    complete_ &= chosen != nullptr && chosen->steady.ratio > 0 && chosen->cool.ratio > 0;
    if (!complete_) return;
    steady_ += std::log(chosen->steady.ratio);
    cool_ += std::log(chosen->cool.ratio);
    ++count_;
  }
  Json json() const {
    if (!complete_ || count_ == 0) return {};
    return {{"steady", std::exp(steady_ / count_)}, {"cool", std::exp(cool_ / count_)}};
  }

 private:
  double steady_ = 0, cool_ = 0;
  int count_ = 0;
  bool complete_ = true;
};

std::vector<EngineConfiguration> tried_for(const Options& options, const Shape& shape) {
  if (options.chosen || !is_plain(options))
    return {chosen_configuration(LocalGemm{.m = shape.m,
                                           .n = shape.n,
                                           .k = shape.k,
                                           .output = GemmOutput::bf16,
                                           .a_major = shape.a_major,
                                           .b_major = shape.b_major})};
  return wanted(options);
}

/// Exit code: 0, or 1 where a product has no exact configuration, or 4 where time ran out.
int tune_all(const Options& options, const std::vector<Shape>& shapes) {
  const auto start = std::chrono::steady_clock::now();
  const auto late = [&] {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    return passed.count() > options.time_limit_s;
  };
  Json report = {{"machine", machine()}, {"complete", false}, {"products", Json::array()}};
  Means means;
  int code = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (late()) {
      fmt::print("left out: {} products, the time limit of {:g} s has passed\n", shapes.size() - i,
                 options.time_limit_s);
      return 4;
    }
    Effort effort = options.chosen ? kLastWord : Effort{};
    if (options.draw) effort.draw_rounds = kDrawRounds;
    const Tuned tuned = tune(shapes[i], tried_for(options, shapes[i]), effort);
    print(tuned);
    report["products"].push_back(json_of(tuned));
    if (!is_pitched(tuned.shape)) means.add(chosen_of(tuned));
    if (best_of(tuned) == nullptr) code = 1;
    write_json(options.json, report);
  }
  if (const Json mean = means.json(); !mean.is_null()) {
    fmt::print("geometric mean of what the table chose over cuBLASLt: steady {:.4f}, cool {:.4f}\n",
               mean["steady"].get<double>(), mean["cool"].get<double>());
    report["geometric_mean"] = mean;
  }
  report["complete"] = true;
  write_json(options.json, report);
  return code;
}

int check_one(const std::string& name) {
  for (const EngineConfiguration& configuration : engine_configurations()) {
    if (name_of(configuration) != name) continue;
    const std::string wrong = check(configuration);
    fmt::print("{} {}\n", wrong.empty() ? "exact" : "WRONG",
               name + (wrong.empty() ? "" : ": ") + wrong);
    return wrong.empty() ? 0 : 1;
  }
  throw UsageError("there is no configuration '" + name + "': gemm_tune --list names them");
}

int run(const Options& options) {
  if (options.list) {
    for (const EngineConfiguration& configuration : engine_configurations())
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
  return options.check.empty() ? tune_all(options, shapes) : check_one(options.check);
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
  app.add_flag("--pitched", options.pitched, "the five products with rows that start off 16 bytes");
  app.add_option("--time-limit", options.time_limit_s, "seconds after which no product is begun")
      ->check(CLI::PositiveNumber);
  app.add_option("--json", options.json, "file for all figures, rewritten after each product");
  app.add_option("--only", options.only, "only this configuration; may be given again")
      ->allow_extra_args(false);
  app.add_option("--skip", options.skip, "all but this one; may be given again")
      ->allow_extra_args(false);
  app.add_option("--check", options.check, "one configuration on small products, no timing");
  app.add_flag("--chosen", options.chosen, "only what the engine's table names for each product");
  app.add_flag("--a-m-major", options.a_m_major, "A is kept as K rows of M elements");
  app.add_flag("--b-n-major", options.b_n_major, "B is kept as K rows of N elements");
  app.add_flag("--draw", options.draw,
               "also what either side draws at work: power, energy, clock, tensor cores");
  app.add_flag("--once", options.once,
               "launches each heuristic and each configuration once, for a profiler");
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
