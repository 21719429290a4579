// Which configuration of the GEMM engine a product gets: kernels/cuda/gemm/tuning/table.json, built
// in.
#pragma once

#include <functional>
#include <vector>

#include "kernels/cuda/gemm/engine/configuration.hpp"
#include "kernels/ops/gemm/gemm.hpp"

namespace tidemark::kernels {

/// What one product gets.
struct GemmChoice {
  GemmShape product;
  EngineConfiguration configuration;
};

struct GemmTable {
  std::vector<GemmChoice> choices;  // at least one; none twice
};

/// The table that was built in. Throws Error where it names a configuration that the engine lacks.
const GemmTable& embedded_gemm_table();

/// What `table` has for the product most like this one: the sizes' ratios, an octave counting the
/// same in each; of two that are as like the first. Only of those that `suits` allows; nullptr
/// where there are none.
const GemmChoice* nearest_choice(
    const GemmTable& table, const GemmShape& product,
    const std::function<bool(const GemmChoice&)>& suits = [](const GemmChoice&) { return true; });

}  // namespace tidemark::kernels
