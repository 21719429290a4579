// Which configuration of the engine a product gets.
#pragma once

#include <cstdint>

#include "kernels/cuda/gemm/engine/configuration.hpp"
#include "kernels/cuda/gemm/local_gemm.hpp"
#include "kernels/cuda/gemm/tuning/gemm_table.hpp"

namespace tidemark::kernels {

/// The configuration for C m x n over k, of bf16 and plain: what the table names for it, or what
/// README.md, "Tuning", says of others.
EngineConfiguration chosen_configuration(const GemmTable& table, std::uint64_t m, std::uint64_t n,
                                         std::uint64_t k);

/// The same for `gemm`, which need not be plain, and within its SM budget.
EngineConfiguration chosen_configuration(const GemmTable& table, const LocalGemm& gemm);

}  // namespace tidemark::kernels
