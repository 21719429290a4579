// Which configuration a product gets: the one that the table in use names for the product most like
// it.
#include "kernels/cuda/gemm/engine/engine.hpp"
#include "kernels/gemm_table.hpp"

namespace tidemark::kernels {
namespace {

/// Where no table says anything.
constexpr EngineConfiguration kGeneral{.shape = kGeneralShape, .lead = 1, .gpc_rows = 1};
constexpr EngineConfiguration kFp8{.shape = kFp8Shape, .lead = 1, .early = true, .gpc_rows = 1};

/// Multiply-adds from which tiles are taken by GPC: those of 4096 x 4096 x 4096, the smallest that
/// gained. What is below was not measured, but 2048, which did not.
constexpr double kWorthGpcs = 4096.0 * 4096.0 * 4096.0;

bool is_worth_gpcs(const LocalGemm& gemm) {
  return static_cast<double>(gemm.m) * static_cast<double>(gemm.n) * static_cast<double>(gemm.k) >=
         kWorthGpcs;
}

EngineConfiguration configuration_for(const GemmShape& product, bool one_sm_tiles = false) {
  const GemmChoice* const nearest = nearest_choice(gemm_table_in_use(), product, one_sm_tiles);
  // A table may name nothing but parts of K.
  return nearest == nullptr ? kGeneral : engine_configurations()[nearest->number - 1];
}

}  // namespace

EngineConfiguration chosen_configuration(std::uint64_t m, std::uint64_t n, std::uint64_t k) {
  return configuration_for({.m = m, .n = n, .k = k});
}

EngineConfiguration chosen_configuration(const LocalGemm& gemm) {
  const bool packed =
      packed_rows(gemm, GemmOperand::a).rows != 0 || packed_rows(gemm, GemmOperand::b).rows != 0;
  EngineConfiguration chosen = is_fp8(gemm.element) ? kFp8 : kGeneral;
  if (is_plain(gemm))
    // Parts of K have a block a tile, whatever the budget is.
    chosen = configuration_for({.m = gemm.m, .n = gemm.n, .k = gemm.k}, gemm.sm_budget != 0);
  // Also where the table's nearest product is one that gained.
  if (!is_worth_gpcs(gemm)) chosen.gpc_rows = 0;
  // What is packed would drive out of L2 what tiles read again.
  if (packed) chosen.keeps = true;
  if (gemm.sm_budget != 0) {
    // Beside the end of the launch before it there would be more blocks than the budget has SMs.
    chosen.early = false;
    chosen.gpc_rows = 0;  // which SMs it gets, who runs beside it decides
  }
  return chosen;
}

}  // namespace tidemark::kernels
