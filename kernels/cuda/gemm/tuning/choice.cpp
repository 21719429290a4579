// Of the configurations that a table names the one that wastes least of the SMs, and of those that
// waste alike the one of the product most like it.
#include "kernels/cuda/gemm/tuning/choice.hpp"

#include <algorithm>
#include <array>

#include "kernels/cuda/gemm/engine/engine.hpp"

namespace tidemark::kernels {
namespace {

/// Where no table says anything.
constexpr EngineConfiguration kGeneral{.shape = kGeneralShape, .lead = 1, .gpc_rows = 1};

/// Multiply-adds from which tiles are taken by GPC: those of 4096 x 4096 x 4096, the smallest that
/// gained. What is below was not measured, but 2048, which did not.
constexpr double kWorthGpcs = 4096.0 * 4096.0 * 4096.0;

bool is_worth_gpcs(const LocalGemm& gemm) {
  return static_cast<double>(gemm.m) * static_cast<double>(gemm.n) * static_cast<double>(gemm.k) >=
         kWorthGpcs;
}

/// Of an H100 SXM and an H200. One with fewer gets what suits these.
constexpr std::uint32_t kSms = 132;

/// How fast tiles of a shape are multiplied where nothing is wasted, those of 128 x 128 and more
/// being 1: of what h200-gemm-race.json has of 23 shapes and eleven products. 128 x 168: of the
/// three drawn products that h100-gemm-drawn.txt and h100-gemm-drawn-waves.txt time by it and by
/// another shape.
constexpr double speed_of(const TileShape& shape) {
  if (shape.split > 1 || shape.tile_m * shape.tile_n < 128 * 128) return 0.7;
  return shape.tile_n == 168 ? 0.94 : 1;
}

/// The share of the SMs' work that is `product`: tiles reach past its ends, and in the last wave
/// some SMs have none.
double share_of_waves(const TileShape& shape, const GemmShape& product, std::uint32_t sms) {
  const auto tiles_of = [](std::uint64_t size, std::uint64_t tile) {
    return std::max<std::uint64_t>(1, (size + tile - 1) / tile);
  };
  const std::uint64_t m = std::uint64_t{shape.tile_m} * shape.cluster_m;
  const std::uint64_t n = std::uint64_t{shape.tile_n} * shape.cluster_n;
  const std::uint64_t clusters = std::max(1U, sms / blocks_of(shape));
  const std::uint64_t waves = tiles_of(tiles_of(product.m, m) * tiles_of(product.n, n), clusters);
  return static_cast<double>(product.m) * static_cast<double>(product.n) /
         (static_cast<double>(waves * clusters * m) * static_cast<double>(n));
}

/// The nearest choice stays where another promises less than this.
constexpr double kWorthwhile = 1.03;
/// Of those that promise as much as this of the most, the nearest.
constexpr double kAlike = 0.99;

EngineConfiguration configuration_for(const GemmTable& table, const GemmShape& product,
                                      bool one_sum = false, std::uint32_t sms = kSms) {
  const auto shape_of = [](const GemmChoice& choice) -> const TileShape& {
    return engine_configurations()[choice.number - 1].shape;
  };
  const auto suits = [&](const GemmChoice& choice) {
    return !one_sum || shape_of(choice).split == 1;
  };
  const GemmChoice* const nearest = nearest_choice(table, product, suits);
  if (nearest == nullptr) return kGeneral;  // a table may name nothing but parts of K
  const auto promise = [&](const GemmChoice& choice) {
    return speed_of(shape_of(choice)) * share_of_waves(shape_of(choice), product, sms);
  };
  double most = 0;
  for (const GemmChoice& choice : table.choices)
    if (suits(choice)) most = std::max(most, promise(choice));
  // Where it is the product itself, it was measured.
  if (nearest->product == product || most <= kWorthwhile * promise(*nearest))
    return engine_configurations()[nearest->number - 1];
  const GemmChoice* const better = nearest_choice(table, product, [&](const GemmChoice& choice) {
    return suits(choice) && promise(choice) >= kAlike * most;
  });
  return engine_configurations()[better->number - 1];
}

/// As speed_of(), beside 128 x 192: h100-gemm-fp8-shapes.json and h200-gemm-fp8-race.json. 128 x
/// 176 counts as less than it has there, 0.97 to 0.98: at 4096 x 14336 x 4096, where it fills 4 %
/// more of the SMs, it gained nothing sustained.
struct Fp8Choice {
  TileShape shape;
  double speed;
};
constexpr std::array kFp8Choices = {Fp8Choice{kFp8Shape, 1}, Fp8Choice{kFp8Shape176, 0.95},
                                    Fp8Choice{kFp8NarrowShape, 0.9}};

EngineConfiguration fp8_configuration_for(const GemmShape& product, std::uint32_t sms) {
  const auto promise = [&](const Fp8Choice& choice) {
    return choice.speed * share_of_waves(choice.shape, product, sms);
  };
  const Fp8Choice& best = *std::max_element(
      kFp8Choices.begin(), kFp8Choices.end(),
      [&](const Fp8Choice& one, const Fp8Choice& two) { return promise(one) < promise(two); });
  return {.shape = best.shape, .lead = 1, .early = true, .gpc_rows = 1};
}

}  // namespace

EngineConfiguration chosen_configuration(const GemmTable& table, std::uint64_t m, std::uint64_t n,
                                         std::uint64_t k) {
  return configuration_for(table, {.m = m, .n = n, .k = k});
}

EngineConfiguration chosen_configuration(const GemmTable& table, const LocalGemm& gemm) {
  const bool packed =
      packed_rows(gemm, GemmOperand::a).rows != 0 || packed_rows(gemm, GemmOperand::b).rows != 0;
  const GemmShape product{.m = gemm.m, .n = gemm.n, .k = gemm.k};
  const std::uint32_t sms = gemm.sm_budget == 0 ? kSms : gemm.sm_budget;
  EngineConfiguration chosen = kGeneral;
  if (is_fp8(gemm.element))
    chosen = fp8_configuration_for(product, sms);
  else if (is_plain(gemm))
    // Parts of K have a block a tile, whatever the budget is, and another sum.
    chosen = configuration_for(table, product, gemm.sm_budget != 0 || gemm.one_sum, sms);
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
