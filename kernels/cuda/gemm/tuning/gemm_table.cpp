// Reads the table that was built in, and finds what suits a product in a table.
#include "kernels/cuda/gemm/tuning/gemm_table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "kernels/cuda/gemm/tuning/gemm_table_text.hpp"
#include "kernels/error.hpp"

namespace tidemark::kernels {
namespace {

EngineConfiguration configuration_named(const std::string& name) {
  for (const EngineConfiguration& configuration : engine_configurations())
    if (name_of(configuration) == name) return configuration;
  throw Error("kernels/cuda/gemm/tuning/table.json: the engine has no configuration '" + name +
              "'; take a table that 'gemm_tune --table' of this tree wrote, and build again");
}

/// How unlike two products are: the sizes' ratios, one octave counting the same in each.
double distance(const GemmShape& left, const GemmShape& right) {
  const auto octaves = [](std::uint64_t one, std::uint64_t other) {
    // A size of 0 counts as 1: nothing is infinitely far away.
    return std::log2(static_cast<double>(one) / std::max(static_cast<double>(other), 1.0));
  };
  const double by_m = octaves(left.m, right.m);
  const double by_n = octaves(left.n, right.n);
  const double by_k = octaves(left.k, right.k);
  return by_m * by_m + by_n * by_n + by_k * by_k;
}

GemmTable parsed() {
  const auto json = nlohmann::json::parse(kGemmTableText);
  GemmTable table;
  for (const nlohmann::json& choice : json.at("choices"))
    table.choices.push_back(
        {.product = {.m = choice.at("m"), .n = choice.at("n"), .k = choice.at("k")},
         .configuration = configuration_named(choice.at("configuration"))});
  return table;
}

}  // namespace

const GemmTable& embedded_gemm_table() {
  static const GemmTable table = parsed();
  return table;
}

const GemmChoice* nearest_choice(const GemmTable& table, const GemmShape& product,
                                 const std::function<bool(const GemmChoice&)>& suits) {
  const GemmChoice* nearest = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const GemmChoice& choice : table.choices) {
    if (!suits(choice)) continue;
    const double unlike = distance(choice.product, product);
    if (unlike >= least) continue;
    least = unlike;
    nearest = &choice;
  }
  return nearest;
}

}  // namespace tidemark::kernels
