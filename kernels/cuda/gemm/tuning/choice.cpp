// A product that a table names gets what was measured. Any other one gets stream-K or whole tiles
// of 128 x 256, whichever wastes less of the SMs; a small one, of what the table names, what wastes
// least, and of what wastes alike the choice of the product most like it.
#include "kernels/cuda/gemm/tuning/choice.hpp"

#include <algorithm>
#include <array>

#include "kernels/cuda/gemm/engine/engine.hpp"

namespace tidemark::kernels {
namespace {

/// Where no table says anything.
constexpr EngineConfiguration kGeneral{
    .shape = kGeneralShape, .lead = 1, .early = true, .gpc_rows = 1};

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

constexpr std::uint64_t tiles_of(std::uint64_t size, std::uint64_t tile) {
  return std::max<std::uint64_t>(1, (size + tile - 1) / tile);
}

/// A product in tiles of clusters.
struct Tiling {
  std::uint64_t m = 0, n = 0;  // elements of a tile
  std::uint64_t tiles = 0;
  std::uint64_t clusters = 0;  // that run at once

  Tiling(const TileShape& shape, const GemmShape& product, std::uint32_t sms)
      : m(std::uint64_t{shape.tile_m} * shape.cluster_m),
        n(std::uint64_t{shape.tile_n} * shape.cluster_n),
        tiles(tiles_of(product.m, m) * tiles_of(product.n, n)),
        clusters(std::max(1U, sms / blocks_of(shape))) {}

  /// Of so many tiles the share that is `product`: they reach past its ends.
  double share_of(std::uint64_t all, const GemmShape& product) const {
    return static_cast<double>(product.m) * static_cast<double>(product.n) /
           (static_cast<double>(all * m) * static_cast<double>(n));
  }
  bool streams() const { return tiles >= clusters; }
};

/// The share of the SMs' work that is `product`: of whole tiles, some SMs have none in the last
/// wave.
double share_of_waves(const TileShape& shape, const GemmShape& product, std::uint32_t sms) {
  const Tiling tiling(shape, product, sms);
  const std::uint64_t all = shape.stream_k && tiling.streams()
                                ? tiling.tiles
                                : tiles_of(tiling.tiles, tiling.clusters) * tiling.clusters;
  return tiling.share_of(all, product);
}

/// The same of how fast it is multiplied in all: a tile that both warpgroups share ends with a
/// pause as long as a block of K, and what a cluster gives and takes of shared tiles takes as long
/// as 8.
double promise_of(const TileShape& shape, const GemmShape& product, GemmElement element,
                  std::uint32_t sms) {
  constexpr double kPause = 1, kHandedOver = 8;
  const auto k_blocks = static_cast<double>(tiles_of(product.k, tile_k(element)));
  const Tiling tiling(shape, product, sms);
  double promise = share_of_waves(shape, product, sms);
  if (!shape.in_turn) promise *= k_blocks / (k_blocks + kPause);
  if (shape.stream_k && tiling.streams()) {
    const double blocks =
        k_blocks * static_cast<double>(tiling.tiles) / static_cast<double>(tiling.clusters);
    promise *= blocks / (blocks + kHandedOver);
  }
  return promise;
}

/// Of stream-K some shapes have kernels for all products, others for fewer (engine/instances.cuh).
enum class MadeFor { all, b_k_major, plain };

/// What to stream a product in, and how fast it is beside what promise_of() says of whole tiles of
/// kGeneralShape: of the drawn products (NOTES.md). Tiles beside each other read a fifth more of
/// L2. Tiles of 200 columns were slow with a K of 2056 and gained with one of 4480: hence
/// `least_k`.
struct StreamChoice {
  EngineConfiguration configuration;
  double speed = 1;
  MadeFor made_for = MadeFor::all;
  std::uint64_t least_k = 0;
};
constexpr std::array kStreamChoices = {
    StreamChoice{{.shape = kTurnStreamShape, .early = true, .gpc_rows = 1}, 0.985, MadeFor::all},
    StreamChoice{
        {.shape = kStreamShape, .lead = 1, .early = true, .gpc_rows = 1}, 0.99, MadeFor::plain},
    StreamChoice{{.shape = kStreamShape200, .lead = 1, .early = true, .gpc_rows = 1},
                 0.95,
                 MadeFor::b_k_major,
                 4096},
    StreamChoice{{.shape = kStreamBesideShape, .lead = 1, .early = true, .gpc_rows = 1},
                 0.955,
                 MadeFor::all}};
/// Where a cluster has less than two tiles, narrow ones cost more: 1632 x 3016 x 8544.
constexpr double kFewNarrowTiles = 0.95;

/// Null where a product has too few tiles for stream-K, and where whole tiles of kGeneralShape
/// promise more: their last wave is about full.
const EngineConfiguration* streamed(const GemmShape& product, MadeFor kind, std::uint32_t sms) {
  const EngineConfiguration* best = nullptr;
  double most = promise_of(kGeneralShape, product, GemmElement::bf16, sms);
  for (const StreamChoice& choice : kStreamChoices) {
    const TileShape& shape = choice.configuration.shape;
    const Tiling tiling(shape, product, sms);
    if (!tiling.streams() || choice.made_for > kind || product.k < choice.least_k) continue;
    const bool few = shape.in_turn && tiling.tiles < 2 * tiling.clusters;
    const double promise = choice.speed * (few ? kFewNarrowTiles : 1) *
                           promise_of(shape, product, GemmElement::bf16, sms);
    if (promise <= most) continue;
    most = promise;
    best = &choice.configuration;
  }
  return best;
}

EngineConfiguration streamed_or_whole(const GemmShape& product, MadeFor kind, std::uint32_t sms) {
  const EngineConfiguration* const stream = streamed(product, kind, sms);
  return stream == nullptr ? kGeneral : *stream;
}

/// The nearest choice stays where another promises less than this.
constexpr double kWorthwhile = 1.03;
/// Of those that promise as much as this of the most, the nearest.
constexpr double kAlike = 0.99;

EngineConfiguration configuration_for(const GemmTable& table, const GemmShape& product,
                                      bool one_sum = false, bool packed = false,
                                      std::uint32_t sms = kSms) {
  const auto suits = [&](const GemmChoice& choice) {
    const TileShape& shape = choice.configuration.shape;
    return shape.stream_k ? !one_sum && !packed : !one_sum || shape.split == 1;
  };
  const GemmChoice* const nearest = nearest_choice(table, product, suits);
  if (nearest == nullptr) return kGeneral;  // a table may name nothing but parts of K
  const auto promise = [&](const GemmChoice& choice) {
    const TileShape& shape = choice.configuration.shape;
    return speed_of(shape) * share_of_waves(shape, product, sms);
  };
  double most = 0;
  for (const GemmChoice& choice : table.choices)
    if (suits(choice)) most = std::max(most, promise(choice));
  // Where it is the product itself, it was measured.
  if (nearest->product == product) return nearest->configuration;
  if (!one_sum && !packed && Tiling(kGeneralShape, product, sms).streams())
    return streamed_or_whole(product, MadeFor::plain, sms);
  if (most <= kWorthwhile * promise(*nearest)) return nearest->configuration;
  const GemmChoice* const better = nearest_choice(table, product, [&](const GemmChoice& choice) {
    return suits(choice) && promise(choice) >= kAlike * most;
  });
  return better->configuration;
}

/// As speed_of(), beside 128 x 192: h200-gemm-fp8-race.json, h100-gemm-fp8-stream-race.json and
/// h200-gemm-fp8-wide-race.json.
struct Fp8Choice {
  TileShape shape;
  std::uint32_t lead = 0;
  double speed = 1;
};
constexpr std::array kFp8Choices = {
    Fp8Choice{kFp8StreamShape, 0, 0.98}, Fp8Choice{kFp8Shape, 0, 0.98},
    Fp8Choice{kFp8StreamShape192, 1, 1}, Fp8Choice{kFp8Shape192, 1, 1},
    Fp8Choice{kFp8NarrowShape, 1, 0.9}};

EngineConfiguration fp8_configuration_for(const GemmShape& product, bool one_sum,
                                          std::uint32_t sms) {
  const auto promise = [&](const Fp8Choice& choice) {
    const bool suits =
        !choice.shape.stream_k || (!one_sum && Tiling(choice.shape, product, sms).streams());
    return suits ? choice.speed * promise_of(choice.shape, product, GemmElement::e4m3, sms) : 0;
  };
  const Fp8Choice& best = *std::max_element(
      kFp8Choices.begin(), kFp8Choices.end(),
      [&](const Fp8Choice& one, const Fp8Choice& two) { return promise(one) < promise(two); });
  return {.shape = best.shape, .lead = best.lead, .early = true, .gpc_rows = 1};
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
  // Parts of K have a block a tile, whatever the budget is, and another sum; stream-K has that,
  // too, and packs all rows before the product.
  const bool one_sum = gemm.sm_budget != 0 || gemm.one_sum;
  EngineConfiguration chosen = kGeneral;
  if (is_fp8(gemm.element))
    chosen = fp8_configuration_for(product, one_sum, sms);
  else if (is_plain(gemm))
    chosen = configuration_for(table, product, one_sum, packed, sms);
  else if (!one_sum && !packed)
    chosen = streamed_or_whole(product,
                               gemm.b_major == Major::k ? MadeFor::b_k_major : MadeFor::all, sms);
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
