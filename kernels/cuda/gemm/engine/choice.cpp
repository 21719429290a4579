// Which configuration a product gets: the one that the table in use names for the product most like
// it.
#include "kernels/cuda/gemm/engine/engine.hpp"
#include "kernels/gemm_table.hpp"

namespace tidemark {
namespace {

/// Of those that stay on one SM a block, where `within` is set: parts of K have a block a tile.
EngineConfiguration configuration_for(std::uint64_t m, std::uint64_t n, std::uint64_t k,
                                      bool within) {
  const GemmChoice* const nearest =
      nearest_choice(gemm_table_in_use(), {.m = m, .n = n, .k = k}, within);
  // A table may name nothing but parts of K.
  if (nearest == nullptr) return {.shape = kGeneralShape, .lead = 1};
  return engine_configurations()[nearest->number - 1];
}

}  // namespace

EngineConfiguration chosen_configuration(std::uint64_t m, std::uint64_t n, std::uint64_t k) {
  return configuration_for(m, n, k, false);
}

EngineConfiguration chosen_configuration(const LocalGemm& gemm) {
  EngineConfiguration chosen{.shape = general_shape(gemm.element), .lead = 1};
  if (is_plain(gemm)) chosen = configuration_for(gemm.m, gemm.n, gemm.k, gemm.sm_budget != 0);
  // Where rows of B are packed beside the product, a higher group walks along them more slowly.
  const bool beside = packed_rows(gemm, GemmOperand::b).rows != 0 && gemm.b_major == Major::k &&
                      !chosen.group_along_n && chosen.shape.split == 1;
  if (beside) chosen.group = 16;
  // Beside the end of the launch before it there would be more blocks than the budget has SMs.
  if (gemm.sm_budget != 0) chosen.early = false;
  return chosen;
}

}  // namespace tidemark
