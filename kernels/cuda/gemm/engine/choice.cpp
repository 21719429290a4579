// Which configurations there are, and which of them a product gets: data. Both tables are meant to
// be changed by what a tuning run measures.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

#include "kernels/cuda/gemm/engine/engine.hpp"

namespace tidemark {
namespace {

constexpr TileShape kWide{.tile_m = 128, .tile_n = 256};
constexpr TileShape kWidePair{.tile_m = 128, .tile_n = 256, .cluster_m = 2};
constexpr TileShape kWideBeside{.tile_m = 128, .tile_n = 256, .cluster_n = 2};
constexpr TileShape kWideSquare{.tile_m = 128, .tile_n = 256, .cluster_m = 2, .cluster_n = 2};
constexpr TileShape kWideFour{.tile_m = 128, .tile_n = 256, .cluster_m = 4};
constexpr TileShape kWideStaged{
    .tile_m = 128, .tile_n = 256, .cluster_m = 2, .stages = 3, .boxes = 4};
constexpr TileShape kMedium{.tile_m = 128, .tile_n = 192, .cluster_m = 2, .stages = 5, .boxes = 1};
constexpr TileShape kTall{.tile_m = 256, .tile_n = 128};
constexpr TileShape kTallPair{.tile_m = 256, .tile_n = 128, .cluster_m = 2};
constexpr TileShape kTallBeside{.tile_m = 256, .tile_n = 128, .cluster_n = 2};
constexpr TileShape kLarge{.tile_m = 256, .tile_n = 192, .cluster_m = 2, .stages = 3, .boxes = 3};
constexpr TileShape kSquare{.tile_m = 128, .tile_n = 128, .stages = 6};
constexpr TileShape kSquarePair{.tile_m = 128, .tile_n = 128, .cluster_m = 2, .stages = 6};
constexpr TileShape kSquareBeside{.tile_m = 128, .tile_n = 128, .cluster_n = 2, .stages = 6};
constexpr TileShape kSquareFour{
    .tile_m = 128, .tile_n = 128, .cluster_m = 2, .cluster_n = 2, .stages = 6};
constexpr TileShape kFlat{.tile_m = 64, .tile_n = 256};
constexpr TileShape kFlatPair{.tile_m = 64, .tile_n = 256, .cluster_m = 2};
constexpr TileShape kSmall{.tile_m = 64, .tile_n = 128, .stages = 8, .boxes = 1};
constexpr TileShape kSmallPair{
    .tile_m = 64, .tile_n = 128, .cluster_m = 2, .stages = 8, .boxes = 1};
constexpr TileShape kSmallFour{
    .tile_m = 64, .tile_n = 128, .cluster_m = 2, .cluster_n = 2, .stages = 8, .boxes = 1};
constexpr TileShape kNarrowBeside{
    .tile_m = 128, .tile_n = 64, .cluster_n = 2, .stages = 8, .boxes = 1};
constexpr TileShape kSquareSplit{.tile_m = 128, .tile_n = 128, .split = 2, .stages = 6, .boxes = 1};
constexpr TileShape kSquarePairSplit{
    .tile_m = 128, .tile_n = 128, .cluster_m = 2, .split = 2, .stages = 6, .boxes = 1};
constexpr TileShape kWideSplit{.tile_m = 128, .tile_n = 256, .split = 2};
constexpr TileShape kWideSplitFour{.tile_m = 128, .tile_n = 256, .split = 4, .boxes = 1};
constexpr TileShape kFlatPairSplit{
    .tile_m = 64, .tile_n = 256, .cluster_m = 2, .split = 2, .boxes = 1};

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
    EngineConfiguration{.shape = kWidePair, .most_blocks = 128},
    EngineConfiguration{.shape = kWideStaged},
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
    EngineConfiguration{.shape = kWideSquare, .lead = 1, .early = true},
    EngineConfiguration{.shape = kWideFour, .group = 4, .lead = 1, .early = true},
    EngineConfiguration{.shape = kMedium, .lead = 2, .early = true},
    EngineConfiguration{.shape = kTall, .lead = 1, .early = true},
    EngineConfiguration{.shape = kTallPair, .group = 4, .lead = 1, .early = true},
    EngineConfiguration{.shape = kTallBeside, .lead = 1, .early = true},
    EngineConfiguration{
        .shape = kTallBeside, .group_along_n = true, .lead = 1, .early = true, .streams_c = true},
    EngineConfiguration{.shape = kLarge, .group = 4, .early = true},
    EngineConfiguration{.shape = kLarge, .group = 4, .lead = 1, .early = true},
    // For products of few tiles.
    EngineConfiguration{.shape = kSquare, .early = true},
    EngineConfiguration{.shape = kSquarePair, .early = true},
    EngineConfiguration{.shape = kSquarePair, .lead = 2, .early = true},
    EngineConfiguration{.shape = kSquareBeside, .early = true},
    EngineConfiguration{.shape = kSquareFour, .early = true},
    EngineConfiguration{.shape = kFlat, .early = true},
    EngineConfiguration{.shape = kFlatPair, .early = true},
    EngineConfiguration{.shape = kSmall, .early = true},
    EngineConfiguration{.shape = kSmallPair, .early = true},
    EngineConfiguration{.shape = kSmallFour, .early = true},
    EngineConfiguration{.shape = kNarrowBeside, .early = true},
    EngineConfiguration{.shape = kSquareSplit, .early = true},
    EngineConfiguration{.shape = kSquarePairSplit, .early = true},
    EngineConfiguration{.shape = kWideSplit, .early = true},
    EngineConfiguration{.shape = kWideSplitFour, .early = true},
    EngineConfiguration{.shape = kFlatPairSplit, .early = true},
};

struct Choice {
  double m, n, k;
  EngineConfiguration configuration;
};

// Not measured yet: reckoned from the number of tiles, and to be replaced by a tuning run's best.
constexpr Choice kChoices[] = {
    {512, 512, 512, {.shape = kSmallPair, .early = true}},
    {1024, 1024, 1024, {.shape = kSmallPair, .early = true}},
    {1024, 1024, 8192, {.shape = kSquareSplit, .early = true}},
    {2048, 2048, 2048, {.shape = kWidePair, .early = true}},
    {4096, 4096, 4096, {.shape = kWidePair, .lead = 1, .early = true}},
    {8192, 8192, 1024, {.shape = kWidePair, .lead = 1, .early = true}},
    {8192, 8192, 8192, {.shape = kWidePair, .lead = 1, .early = true}},
    {16384, 16384, 16384, {.shape = kWidePair, .lead = 1, .early = true}},
};

/// How unlike two products are: the sizes' ratios, one octave counting the same in each.
double distance(const Choice& choice, double m, double n, double k) {
  const auto octaves = [](double left, double right) { return std::log2(left / right); };
  const double by_m = octaves(choice.m, m);
  const double by_n = octaves(choice.n, n);
  const double by_k = octaves(choice.k, k);
  return by_m * by_m + by_n * by_n + by_k * by_k;
}

}  // namespace

std::string name_of(const EngineConfiguration& configuration) {
  const TileShape& shape = configuration.shape;
  std::string name = fmt::format("{}x{}_{}x{}_s{}", shape.tile_m, shape.tile_n, shape.cluster_m,
                                 shape.cluster_n, shape.stages);
  if (shape.split > 1) name += fmt::format("_k{}", shape.split);
  name += fmt::format("_{}{}", configuration.group_along_n ? 'n' : 'm', configuration.group);
  if (configuration.lead != 0) name += fmt::format("_lead{}", configuration.lead);
  if (configuration.most_blocks != 0) name += fmt::format("_b{}", configuration.most_blocks);
  if (configuration.early) name += "_early";
  if (configuration.streams_c) name += "_stream";
  return name;
}

std::span<const EngineConfiguration> engine_configurations() { return kConfigurations; }

EngineConfiguration chosen_configuration(std::uint64_t m, std::uint64_t n, std::uint64_t k) {
  const Choice* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const Choice& choice : kChoices) {
    const double unlike =
        distance(choice, static_cast<double>(m), static_cast<double>(n), static_cast<double>(k));
    if (unlike >= least) continue;
    least = unlike;
    best = &choice;
  }
  return best->configuration;
}

EngineConfiguration chosen_configuration(const LocalGemm& gemm) {
  if (is_plain(gemm)) return chosen_configuration(gemm.m, gemm.n, gemm.k);
  return {.shape = kGeneralShape, .lead = 1};
}

}  // namespace tidemark
