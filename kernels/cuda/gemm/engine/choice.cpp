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
  EngineConfiguration chosen{.shape = kGeneralShape, .lead = 1};
  if (is_fp8(gemm.element)) chosen = fp8_configurations().front();
  if (is_plain(gemm)) chosen = configuration_for(gemm.m, gemm.n, gemm.k, gemm.sm_budget != 0);
  // What is packed beside a product drives out of L2 what its tiles read again.
  if (packed_rows(gemm, GemmOperand::a).rows != 0 || packed_rows(gemm, GemmOperand::b).rows != 0)
    chosen.keeps = true;
  // Beside the end of the launch before it there would be more blocks than the budget has SMs.
  if (gemm.sm_budget != 0) chosen.early = false;
  return chosen;
}

}  // namespace tidemark
