// Which configurations there are, and which of them a product gets: data. Both tables are meant to
// be changed by what a tuning run measures.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "kernels/cuda/gemm/engine/engine.hpp"

namespace tidemark {
namespace {

constexpr TileShape kWide{.tile_m = 128, .tile_n = 256};
constexpr TileShape kWidePair{.tile_m = 128, .tile_n = 256, .cluster_m = 2};
constexpr TileShape kWideBeside{.tile_m = 128, .tile_n = 256, .cluster_n = 2};
constexpr TileShape kTurn128{.tile_n = 128, .cluster_m = 2, .stages = 6, .in_turn = true};
constexpr TileShape kTurn128Alone{.tile_n = 128, .stages = 6, .in_turn = true};
constexpr TileShape kTurn168{.tile_n = 168, .cluster_m = 2, .stages = 5, .in_turn = true};
constexpr TileShape kTurn176{.tile_n = 176, .cluster_m = 2, .stages = 5, .in_turn = true};
constexpr TileShape kTurn184{
    .tile_n = 184, .cluster_m = 2, .stages = 5, .boxes = 1, .in_turn = true};
constexpr TileShape kTurn192{
    .tile_n = 192, .cluster_m = 2, .stages = 5, .boxes = 1, .in_turn = true};
constexpr TileShape kTurnSmall{
    .tile_m = 64, .tile_n = 128, .stages = 8, .boxes = 1, .in_turn = true};
constexpr TileShape kSquareSplit{.tile_m = 128, .tile_n = 128, .split = 2, .stages = 6, .boxes = 1};

constexpr std::array kConfigurations = {
    EngineConfiguration{.shape = kWidePair},  // the top of the ladder
    // One thing at a time beside it.
    EngineConfiguration{.shape = kWidePair, .lead = 1},
    EngineConfiguration{.shape = kWidePair, .lead = 2},
    EngineConfiguration{.shape = kWidePair, .early = true},
    EngineConfiguration{.shape = kWidePair, .streams_c = true},
    EngineConfiguration{.shape = kWidePair, .group = 4},
    EngineConfiguration{.shape = kWidePair, .group = 16},
    EngineConfiguration{.shape = kWidePair, .group_along_n = true},
    EngineConfiguration{.shape = kWidePair, .group = 4, .group_along_n = true},
    // Several.
    EngineConfiguration{.shape = kWidePair, .lead = 1, .early = true},
    EngineConfiguration{.shape = kWidePair, .lead = 1, .early = true, .streams_c = true},
    EngineConfiguration{.shape = kWidePair, .lead = 2, .early = true, .streams_c = true},
    EngineConfiguration{
        .shape = kWidePair, .group_along_n = true, .lead = 1, .early = true, .streams_c = true},
    EngineConfiguration{
        .shape = kWidePair, .group = 4, .lead = 1, .early = true, .streams_c = true},
    EngineConfiguration{
        .shape = kWidePair, .group = 16, .lead = 1, .early = true, .streams_c = true},
    // Other clusters and tiles.
    EngineConfiguration{.shape = kWide, .group = 16, .lead = 1, .early = true},
    EngineConfiguration{.shape = kWideBeside, .group = 16, .lead = 1, .early = true},
    // Warpgroups in turn.
    EngineConfiguration{.shape = kTurn128, .early = true},
    EngineConfiguration{.shape = kTurn128, .group = 4, .early = true, .streams_c = true},
    EngineConfiguration{.shape = kTurn128Alone, .early = true},
    EngineConfiguration{.shape = kTurn168, .early = true},
    EngineConfiguration{.shape = kTurn176, .early = true},
    EngineConfiguration{.shape = kTurn176, .group = 16, .early = true},
    EngineConfiguration{.shape = kTurn176, .group = 4, .early = true, .streams_c = true},
    EngineConfiguration{.shape = kTurn184, .early = true},
    EngineConfiguration{.shape = kTurn192, .early = true},
    EngineConfiguration{.shape = kTurn192, .group = 16, .early = true},
    EngineConfiguration{.shape = kTurn192, .group = 4, .early = true, .streams_c = true},
    EngineConfiguration{.shape = kTurnSmall, .early = true},
    // K in parts.
    EngineConfiguration{.shape = kSquareSplit, .early = true},
};

// None is measured yet. A kernel of fp8 has its general shape, or the wider one.
constexpr std::array kFp8Configurations = {
    EngineConfiguration{.shape = kFp8Shape, .lead = 1},
    EngineConfiguration{.shape = kFp8Shape},
    EngineConfiguration{.shape = kFp8Shape, .lead = 1, .early = true},
    EngineConfiguration{.shape = kFp8Shape, .group = 16, .lead = 1, .early = true},
    EngineConfiguration{.shape = kFp8Shape, .group_along_n = true, .lead = 1, .early = true},
    EngineConfiguration{.shape = kFp8Shape, .lead = 1, .early = true, .streams_c = true},
    EngineConfiguration{.shape = kFp8WideShape, .lead = 1},
    EngineConfiguration{.shape = kFp8WideShape, .lead = 1, .early = true},
    EngineConfiguration{.shape = kFp8WideShape, .group = 16, .lead = 1, .early = true},
    EngineConfiguration{.shape = kFp8WideShape, .lead = 1, .early = true, .streams_c = true},
};

struct Choice {
  double m, n, k;
  EngineConfiguration configuration;
};

// What did best beside cuBLASLt on one H200, at work and rested together, by ci/gemm_tune; the two
// of which it says nothing, 512 and 1024 x 1024 x 8192, are reckoned from the number of tiles.
constexpr Choice kChoices[] = {
    {512, 512, 512, {.shape = kTurnSmall, .early = true}},
    {1024, 1024, 1024, {.shape = kTurnSmall, .early = true}},
    {1024, 1024, 8192, {.shape = kSquareSplit, .early = true}},
    {2048, 2048, 2048, {.shape = kTurn128Alone, .early = true}},
    {4096, 4096, 4096, {.shape = kWide, .group = 16, .lead = 1, .early = true}},
    {6144, 6144, 6144, {.shape = kWidePair, .lead = 1, .early = true}},
    {8192, 8192, 8192, {.shape = kTurn192, .early = true}},
    {12288, 12288, 12288, {.shape = kWidePair, .lead = 1, .early = true}},
    {16384, 16384, 16384, {.shape = kWidePair, .lead = 1, .early = true}},
    {8192, 8192, 1024, {.shape = kTurn192, .group = 4, .early = true, .streams_c = true}},
    {8192, 1024, 8192, {.shape = kWide, .group = 16, .lead = 1, .early = true}},
    {4096, 14336, 4096, {.shape = kTurn176, .early = true}},
    {8192, 28672, 8192, {.shape = kWidePair, .lead = 1, .early = true}},
};

/// How unlike two products are: the sizes' ratios, one octave counting the same in each.
double distance(const Choice& choice, double m, double n, double k) {
  // A size of 0 counts as 1: nothing is infinitely far away.
  const auto octaves = [](double left, double right) {
    return std::log2(left / std::max(right, 1.0));
  };
  const double by_m = octaves(choice.m, m);
  const double by_n = octaves(choice.n, n);
  const double by_k = octaves(choice.k, k);
  return by_m * by_m + by_n * by_n + by_k * by_k;
}

/// Of those that stay on one SM a block, where `within` is set: parts of K have a block a tile.
EngineConfiguration nearest_choice(std::uint64_t m, std::uint64_t n, std::uint64_t k, bool within) {
  const Choice* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const Choice& choice : kChoices) {
    if (within && choice.configuration.shape.split > 1) continue;
    const double unlike =
        distance(choice, static_cast<double>(m), static_cast<double>(n), static_cast<double>(k));
    if (unlike >= least) continue;
    least = unlike;
    best = &choice;
  }
  return best->configuration;
}

}  // namespace

std::string name_of(const EngineConfiguration& configuration) {
  const TileShape& shape = configuration.shape;
  std::string name = fmt::format("{}x{}_{}x{}_s{}", shape.tile_m, shape.tile_n, shape.cluster_m,
                                 shape.cluster_n, shape.stages);
  if (shape.in_turn) name += "_turn";
  if (shape.split > 1) name += fmt::format("_k{}", shape.split);
  name += fmt::format("_{}{}", configuration.group_along_n ? 'n' : 'm', configuration.group);
  if (configuration.lead != 0) name += fmt::format("_lead{}", configuration.lead);
  if (configuration.early) name += "_early";
  if (configuration.streams_c) name += "_stream";
  return name;
}

std::span<const EngineConfiguration> engine_configurations() { return kConfigurations; }
std::span<const EngineConfiguration> fp8_configurations() { return kFp8Configurations; }

EngineConfiguration chosen_configuration(std::uint64_t m, std::uint64_t n, std::uint64_t k) {
  return nearest_choice(m, n, k, false);
}

EngineConfiguration chosen_configuration(const LocalGemm& gemm) {
  EngineConfiguration chosen{.shape = general_shape(gemm.element), .lead = 1};
  if (is_plain(gemm)) chosen = nearest_choice(gemm.m, gemm.n, gemm.k, gemm.sm_budget != 0);
  // Where rows of B are packed beside the product, a higher group walks along them more slowly.
  if (packed_rows(gemm, GemmOperand::b).rows != 0 && chosen.shape.split == 1) chosen.group = 16;
  // Beside the end of the launch before it there would be more blocks than the budget has SMs.
  if (gemm.sm_budget != 0) chosen.early = false;
  return chosen;
}

}  // namespace tidemark
