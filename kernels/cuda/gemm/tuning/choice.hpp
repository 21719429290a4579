// Which configuration of the engine a GEMM gets: by the built-in table, or by a model.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "kernels/cuda/gemm/engine/configuration.hpp"
#include "kernels/cuda/gemm/local_gemm.hpp"
#include "kernels/ops/gemm/gemm.hpp"

namespace tidemark {

// Which configuration of the GEMM engine a product gets: kernels/cuda/gemm/tuning/table.json, built
// in.

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

// Which configuration of the engine a product gets.

/// The configuration for C m x n over k, of bf16 and plain: what the table names for it, or what
/// README.md, "Tuning", says of others.
EngineConfiguration chosen_configuration(const GemmTable& table, std::uint64_t m, std::uint64_t n,
                                         std::uint64_t k);

/// The same for `gemm`, which need not be plain, and within its SM budget.
EngineConfiguration chosen_configuration(const GemmTable& table, const LocalGemm& gemm);

// The text of kernels/cuda/gemm/tuning/table.json, put in by the build.

extern const std::string_view kGemmTableText;

}  // namespace tidemark
