// gemm_tune [M N K]...: every configuration of the engine beside the best of cuBLASLt's first 16
// heuristics. Prints a table a product and writes all figures as JSON after each product, so that a
// run that is cut short has left what it knew.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/gemm/opponent/tune.hpp"
#include "kernels/device.hpp"
#include "kernels/error.hpp"

namespace tidemark {
namespace {

using Json = nlohmann::ordered_json;

constexpr Shape kShapes[] = {{1024, 1024, 1024},    {2048, 2048, 2048}, {4096, 4096, 4096},
                             {6144, 6144, 6144},    {8192, 8192, 8192}, {12288, 12288, 12288},
                             {16384, 16384, 16384}, {8192, 8192, 1024}, {8192, 1024, 8192},
                             {4096, 14336, 4096},   {8192, 28672, 8192}};
constexpr std::size_t kShown = 8;  // configurations a product, in the table

struct Options {
  std::vector<std::uint64_t> sizes;
  std::vector<std::string> only, skip;
  std::string json, check;
  double time_limit_s = 330;
  bool list = false;
};

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
  if (all.empty()) throw Error("no configuration is left: gemm_tune --list names them");
  return all;
}

std::vector<Shape> shapes_of(const Options& options) {
  if (options.sizes.empty()) return {std::begin(kShapes), std::end(kShapes)};
  if (options.sizes.size() % 3 != 0) throw Error("sizes come in threes: gemm_tune [M N K]...");
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < options.sizes.size(); i += 3) {
    const Shape shape{options.sizes[i], options.sizes[i + 1], options.sizes[i + 2]};
    if (shape.m == 0 || shape.n == 0 || shape.k == 0)
      throw Error("a size is 0: give M N K, each at least 1");
    shapes.push_back(shape);
  }
  return shapes;
}

Json json_of(const Tuned& tuned) {
  Json tried = Json::array();
  for (const Tried& one : tuned.tried) {
    if (one.trouble.empty())
      tried.push_back({{"name", one.name},
                       {"exact", true},
                       {"tflops", one.tflops},
                       {"ratio", one.ratio},
                       {"spread", one.spread}});
    else
      tried.push_back({{"name", one.name}, {"exact", false}, {"trouble", one.trouble}});
  }
  const Tried* const best = best_of(tuned);
  return {{"m", tuned.shape.m},
          {"n", tuned.shape.n},
          {"k", tuned.shape.k},
          {"cublaslt_best", tuned.opponent},
          {"cublaslt_first", tuned.first},
          {"heuristics", tuned.heuristics},
          {"best_heuristic", tuned.best},
          {"drift", tuned.drift},
          {"rounds", tuned.rounds},
          {"seconds", tuned.seconds},
          {"best", best == nullptr ? Json() : Json(best->name)},
          {"ratio", best == nullptr ? Json() : Json(best->ratio)},
          {"configurations", tried}};
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

void print(const Tuned& tuned) {
  fmt::print(
      "{} x {} x {}: cuBLASLt {:.1f} TFLOP/s (heuristic {} of {}), drift {:.3f}, {} rounds, "
      "{:.1f} s\n",
      tuned.shape.m, tuned.shape.n, tuned.shape.k, tuned.opponent, tuned.best, tuned.heuristics,
      tuned.drift, tuned.rounds, tuned.seconds);
  std::vector<const Tried*> order;
  for (const Tried& tried : tuned.tried)
    if (tried.trouble.empty())
      order.push_back(&tried);
    else
      fmt::print("  {:<44} {}\n", tried.name, tried.trouble);
  std::sort(order.begin(), order.end(),
            [](const Tried* left, const Tried* right) { return left->ratio > right->ratio; });
  for (std::size_t i = 0; i < std::min(order.size(), kShown); ++i)
    fmt::print("  {:<44} {:>7.1f} TFLOP/s  {:.4f} +- {:.4f}\n", order[i]->name, order[i]->tflops,
               order[i]->ratio, order[i]->spread / 2);
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

/// Exit code: 0, or 1 where a product has no exact configuration, or 4 where time ran out.
int tune_all(const Options& options) {
  const std::vector<Shape> shapes = shapes_of(options);
  const std::vector<EngineConfiguration> configurations = wanted(options);
  const auto start = std::chrono::steady_clock::now();
  const auto left = [&] {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    return options.time_limit_s - passed.count();
  };
  Json report = {{"machine", machine()}, {"complete", false}, {"products", Json::array()}};
  double logarithms = 0;
  int code = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (left() <= 0) {
      fmt::print("left out: {} products, the time limit of {:g} s has passed\n", shapes.size() - i,
                 options.time_limit_s);
      return 4;
    }
    const Tuned tuned =
        tune(shapes[i], configurations, left() / static_cast<double>(shapes.size() - i));
    print(tuned);
    report["products"].push_back(json_of(tuned));
    if (const Tried* const best = best_of(tuned); best != nullptr)
      logarithms += std::log(best->ratio);
    else
      code = 1;
    write_json(options.json, report);
  }
  const double mean = code == 0 ? std::exp(logarithms / static_cast<double>(shapes.size())) : 0;
  if (code == 0) {
    fmt::print("geometric mean of the best configurations over cuBLASLt: {:.4f}\n", mean);
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
  throw Error("there is no configuration '" + name + "': gemm_tune --list names them");
}

int run(const Options& options) {
  if (options.list) {
    for (const EngineConfiguration& configuration : engine_configurations())
      fmt::print("{}\n", name_of(configuration));
    return 0;
  }
  if (visible_gpus().empty()) {
    fmt::print(stderr,
               "gemm_tune: CUDA shows no GPU here: run it on a machine with a Hopper GPU\n");
    return 5;
  }
  return options.check.empty() ? tune_all(options) : check_one(options.check);
}

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) {
  tidemark::Options options;
  CLI::App app("gemm_tune: the engine's configurations beside cuBLASLt");
  app.add_option("sizes", options.sizes, "M N K of each product; eleven products if none");
  app.add_option("--time-limit", options.time_limit_s, "seconds, shared out over the products")
      ->check(CLI::PositiveNumber);
  app.add_option("--json", options.json, "file for all figures, rewritten after each product");
  app.add_option("--only", options.only, "only this configuration; may be given again")
      ->allow_extra_args(false);
  app.add_option("--skip", options.skip, "all but this one; may be given again")
      ->allow_extra_args(false);
  app.add_option("--check", options.check, "one configuration on small products, no timing");
  app.add_flag("--list", options.list, "names of all configurations");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    return tidemark::run(options);
  } catch (const tidemark::StickyError& error) {
    fmt::print(stderr, "gemm_tune: {}\n", error.what());
    return 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "gemm_tune: {}\n", error.what());
    return 2;
  }
}
