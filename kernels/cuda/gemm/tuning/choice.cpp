// Which configuration of the engine a GEMM gets: by the built-in table, or by a model.
#include "kernels/cuda/gemm/tuning/choice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "kernels/cuda/gemm/engine/engine.hpp"
#include "kernels/error.hpp"

namespace tidemark {

// Reads the table that was built in, and finds what suits a product in a table.

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

// A product that a table names gets what was measured. Any other one gets stream-K or whole tiles
// of 128 x 256, whichever wastes less of the SMs; a small one, of what the table names, what wastes
// least, and of what wastes alike the choice of the product most like it.

namespace {

/// Where no table says anything.
constexpr EngineConfiguration kGeneral{
    .shape = kWidePair, .stagger = true, .pdl = true, .gpc_rows = 1};

/// Multiply-adds from which tiles are taken by GPC: those of 4096 x 4096 x 4096, the smallest that
/// gained. What is below was not measured, but 2048, which did not.
constexpr double kWorthGpcs = 4096.0 * 4096.0 * 4096.0;

bool is_worth_gpcs(const LocalGemm& gemm) {
  return static_cast<double>(gemm.m) * static_cast<double>(gemm.n) * static_cast<double>(gemm.k) >=
         kWorthGpcs;
}

/// Of an H100 SXM and an H200. One with fewer gets what suits these.
constexpr std::uint32_t kSms = 132;

/// How fast tiles are multiplied where nothing is wasted, those of 128 x 192 and more being 1: of
/// what h200-gemm-race.json has of 23 shapes and eleven GEMMs.
constexpr double speed_of(const TileShape& shape) { return shape == kPingPongSmall ? 0.7 : 1; }

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
        n(shape.tile_n),
        tiles(tiles_of(product.m, m) * tiles_of(product.n, n)),
        clusters(std::max(1U, sms / shape.cluster_m)) {}

  /// Of so many tiles the share that is `product`: they reach past its ends.
  double share_of(std::uint64_t all, const GemmShape& product) const {
    return static_cast<double>(product.m) * static_cast<double>(product.n) /
           (static_cast<double>(all * m) * static_cast<double>(n));
  }
  bool streams() const { return tiles >= clusters; }
};

/// The share of the SMs' work that is `product`: of whole tiles, some SMs have none in the last
/// wave.
double share_of_waves(const EngineConfiguration& configuration, const GemmShape& product,
                      std::uint32_t sms) {
  const Tiling tiling(configuration.shape, product, sms);
  std::uint64_t all = tiles_of(tiling.tiles, tiling.clusters) * tiling.clusters;
  if (configuration.stream_k && tiling.streams()) all = tiling.tiles;
  return tiling.share_of(all, product);
}

/// The same of how fast it is multiplied in all: a tile that both warpgroups share ends with a
/// pause as long as a block of K, and what a cluster gives and takes of shared tiles takes as long
/// as 8.
double promise_of(const EngineConfiguration& configuration, const GemmShape& product,
                  GemmElement element, std::uint32_t sms) {
  constexpr double kPause = 1, kHandedOver = 8;
  const auto k_blocks = static_cast<double>(tiles_of(product.k, tile_k(element)));
  const Tiling tiling(configuration.shape, product, sms);
  double promise = share_of_waves(configuration, product, sms);
  if (!configuration.shape.ping_pong) promise *= k_blocks / (k_blocks + kPause);
  if (configuration.stream_k && tiling.streams()) {
    const double blocks =
        k_blocks * static_cast<double>(tiling.tiles) / static_cast<double>(tiling.clusters);
    promise *= blocks / (blocks + kHandedOver);
  }
  return promise;
}

/// What to stream a GEMM in, and how fast it is beside what promise_of() says of whole tiles: of
/// the sampled GEMMs (NOTES.md).
struct StreamChoice {
  EngineConfiguration configuration;
  double speed = 1;
};
constexpr std::array kStreamChoices = {
    StreamChoice{{.shape = kPingPong192, .stream_k = true, .pdl = true, .gpc_rows = 1}, 0.985},
    StreamChoice{
        {.shape = kWidePair, .stream_k = true, .stagger = true, .pdl = true, .gpc_rows = 1}, 0.99}};
/// Where a cluster has less than two tiles, narrow ones cost more: 1632 x 3016 x 8544.
constexpr double kFewNarrowTiles = 0.95;

/// Stream-K; kGeneral where a GEMM has too few tiles for that, and where whole tiles promise more:
/// their last wave is about full.
EngineConfiguration streamed_or_whole(const GemmShape& product, std::uint32_t sms) {
  EngineConfiguration best = kGeneral;
  double most = promise_of(kGeneral, product, GemmElement::bf16, sms);
  for (const StreamChoice& choice : kStreamChoices) {
    const TileShape& shape = choice.configuration.shape;
    const Tiling tiling(shape, product, sms);
    if (!tiling.streams()) continue;
    const bool few = shape.ping_pong && tiling.tiles < 2 * tiling.clusters;
    const double promise = choice.speed * (few ? kFewNarrowTiles : 1) *
                           promise_of(choice.configuration, product, GemmElement::bf16, sms);
    if (promise <= most) continue;
    most = promise;
    best = choice.configuration;
  }
  return best;
}

/// The nearest choice stays where another promises less than this.
constexpr double kWorthwhile = 1.03;
/// Of those that promise as much as this of the most, the nearest.
constexpr double kAlike = 0.99;

EngineConfiguration configuration_for(const GemmTable& table, const GemmShape& product,
                                      bool one_sum = false, std::uint32_t sms = kSms) {
  const auto suits = [&](const GemmChoice& choice) {
    return !choice.configuration.stream_k || !one_sum;
  };
  const GemmChoice* const nearest = nearest_choice(table, product, suits);
  if (nearest == nullptr) return kGeneral;  // a table may name nothing but stream-K
  const auto promise = [&](const GemmChoice& choice) {
    return speed_of(choice.configuration.shape) *
           share_of_waves(choice.configuration, product, sms);
  };
  double most = 0;
  for (const GemmChoice& choice : table.choices)
    if (suits(choice)) most = std::max(most, promise(choice));
  // Where it is the product itself, it was measured.
  if (nearest->product == product) return nearest->configuration;
  if (!one_sum && Tiling(kWidePair, product, sms).streams()) return streamed_or_whole(product, sms);
  if (most <= kWorthwhile * promise(*nearest)) return nearest->configuration;
  const GemmChoice* const better = nearest_choice(table, product, [&](const GemmChoice& choice) {
    return suits(choice) && promise(choice) >= kAlike * most;
  });
  return better->configuration;
}

/// As speed_of(), beside 128 x 192: h200-gemm-fp8-race.json, h100-gemm-fp8-stream-race.json and
/// h200-gemm-fp8-wide-race.json.
constexpr double fp8_speed_of(const TileShape& shape) { return shape == kFp8Wide ? 0.98 : 1; }

EngineConfiguration fp8_configuration_for(const GemmShape& product, bool one_sum,
                                          std::uint32_t sms) {
  const auto promise = [&](const EngineConfiguration& choice) {
    if (choice.stream_k && (one_sum || !Tiling(choice.shape, product, sms).streams())) return 0.0;
    return fp8_speed_of(choice.shape) * promise_of(choice, product, GemmElement::e4m3, sms);
  };
  const auto all = fp8_configurations();
  return *std::max_element(all.begin(), all.end(),
                           [&](const EngineConfiguration& one, const EngineConfiguration& two) {
                             return promise(one) < promise(two);
                           });
}

}  // namespace

EngineConfiguration chosen_configuration(const GemmTable& table, std::uint64_t m, std::uint64_t n,
                                         std::uint64_t k) {
  return configuration_for(table, {.m = m, .n = n, .k = k});
}

EngineConfiguration chosen_configuration(const GemmTable& table, const LocalGemm& gemm) {
  const GemmShape product{.m = gemm.m, .n = gemm.n, .k = gemm.k};
  const std::uint32_t sms = gemm.sm_budget == 0 ? kSms : gemm.sm_budget;
  // Stream-K takes all SMs, and has another sum.
  const bool one_sum = gemm.sm_budget != 0 || gemm.one_sum;
  EngineConfiguration chosen = kGeneral;
  if (is_fp8(gemm.element))
    chosen = fp8_configuration_for(product, one_sum, sms);
  else if (is_plain(gemm))
    chosen = configuration_for(table, product, one_sum, sms);
  else if (!one_sum)
    chosen = streamed_or_whole(product, sms);
  // Also where the table's nearest product is one that gained.
  if (!is_worth_gpcs(gemm)) chosen.gpc_rows = 0;
  if (gemm.sm_budget != 0) {
    // Beside the end of the launch before it there would be more CTAs than the budget has SMs.
    chosen.pdl = false;
    chosen.gpc_rows = 0;  // which SMs it gets, who runs beside it decides
  }
  return chosen;
}

}  // namespace tidemark
