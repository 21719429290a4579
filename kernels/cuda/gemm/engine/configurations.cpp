// Which configurations there are: data, meant to be changed by what a tuning run measures. No CUDA
// header, so that a table of choices can be checked in a build without one.
#include <fmt/format.h>

#include <array>

#include "kernels/cuda/gemm/engine/configuration.hpp"

namespace tidemark::kernels {
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
constexpr TileShape kTurnSmall{.tile_m = 64, .tile_n = 128, .stages = 7, .in_turn = true};
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
    EngineConfiguration{.shape = kWidePair, .group = 16, .lead = 1, .early = true},
    EngineConfiguration{.shape = kWidePair, .lead = 1, .early = true, .streams_c = true},
    EngineConfiguration{.shape = kWidePair, .lead = 2, .early = true, .streams_c = true},
    EngineConfiguration{
        .shape = kWidePair, .group_along_n = true, .lead = 1, .early = true, .streams_c = true},
    EngineConfiguration{
        .shape = kWidePair, .group = 4, .lead = 1, .early = true, .streams_c = true},
    EngineConfiguration{
        .shape = kWidePair, .group = 16, .lead = 1, .early = true, .streams_c = true},
    // Other clusters and tiles.
    EngineConfiguration{.shape = kWide, .group = 16, .early = true},
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
    // What a group shares stays in L2.
    EngineConfiguration{.shape = kWidePair, .lead = 1, .early = true, .keeps = true},
    EngineConfiguration{
        .shape = kWidePair, .group_along_n = true, .lead = 1, .early = true, .keeps = true},
    EngineConfiguration{.shape = kTurn176, .early = true, .keeps = true},
    EngineConfiguration{.shape = kTurn184, .early = true, .keeps = true},
    EngineConfiguration{.shape = kTurn192, .early = true, .keeps = true},
    // Clusters of a GPC begin with neighbouring tiles.
    EngineConfiguration{.shape = kWidePair, .lead = 1, .early = true, .gpc_rows = 1},
    EngineConfiguration{.shape = kWidePair, .lead = 1, .early = true, .gpc_rows = 2},
    EngineConfiguration{.shape = kWidePair, .group = 16, .lead = 1, .early = true, .gpc_rows = 2},
    EngineConfiguration{.shape = kTurn176, .early = true, .gpc_rows = 1},
    EngineConfiguration{.shape = kTurn184, .early = true, .gpc_rows = 1},
    EngineConfiguration{.shape = kTurn184, .early = true, .gpc_rows = 2},
    EngineConfiguration{.shape = kTurn192, .early = true, .gpc_rows = 1},
    EngineConfiguration{.shape = kTurn192, .early = true, .gpc_rows = 2},
    EngineConfiguration{.shape = kTurn192, .group = 16, .early = true, .gpc_rows = 2},
    EngineConfiguration{.shape = kWidePair, .lead = 1, .early = true, .keeps = true, .gpc_rows = 1},
    EngineConfiguration{.shape = kWidePair, .lead = 1, .early = true, .keeps = true, .gpc_rows = 2},
    EngineConfiguration{
        .shape = kWidePair, .group = 16, .lead = 1, .early = true, .keeps = true, .gpc_rows = 2},
    EngineConfiguration{.shape = kTurn184, .early = true, .keeps = true, .gpc_rows = 1},
    EngineConfiguration{.shape = kTurn192, .early = true, .keeps = true, .gpc_rows = 1},
    EngineConfiguration{
        .shape = kTurn192, .group = 16, .early = true, .keeps = true, .gpc_rows = 2},
    // The K of the last tiles shared out.
    EngineConfiguration{.shape = kStreamShape, .lead = 1, .early = true},
    EngineConfiguration{.shape = kStreamShape, .lead = 1, .early = true, .gpc_rows = 1},
    EngineConfiguration{.shape = kTurnStreamShape, .early = true},
    EngineConfiguration{.shape = kTurnStreamShape, .early = true, .gpc_rows = 1},
    EngineConfiguration{.shape = kStreamBesideShape, .lead = 1, .early = true},
    EngineConfiguration{.shape = kStreamBesideShape, .lead = 1, .early = true, .gpc_rows = 1},
    EngineConfiguration{.shape = kStreamShape200, .lead = 1, .early = true},
    EngineConfiguration{.shape = kStreamShape200, .lead = 1, .early = true, .gpc_rows = 1},
};

constexpr std::array kFp8Configurations = {
    EngineConfiguration{.shape = kFp8NarrowShape, .lead = 1},
    EngineConfiguration{.shape = kFp8NarrowShape},
    EngineConfiguration{.shape = kFp8NarrowShape, .lead = 1, .early = true},
    EngineConfiguration{.shape = kFp8NarrowShape, .group = 16, .lead = 1, .early = true},
    EngineConfiguration{.shape = kFp8NarrowShape, .group_along_n = true, .lead = 1, .early = true},
    EngineConfiguration{.shape = kFp8NarrowShape, .lead = 1, .early = true, .streams_c = true},
    EngineConfiguration{.shape = kFp8Shape192, .lead = 1},
    EngineConfiguration{.shape = kFp8Shape192, .lead = 1, .early = true},
    EngineConfiguration{.shape = kFp8Shape192, .group = 16, .lead = 1, .early = true},
    EngineConfiguration{.shape = kFp8Shape192, .lead = 1, .early = true, .streams_c = true},
    EngineConfiguration{.shape = kFp8Shape192, .lead = 1, .early = true, .keeps = true},
    EngineConfiguration{.shape = kFp8Shape192, .lead = 1, .early = true, .gpc_rows = 1},
    EngineConfiguration{.shape = kFp8Shape192, .lead = 1, .early = true, .gpc_rows = 2},
    EngineConfiguration{.shape = kFp8NarrowShape, .lead = 1, .early = true, .gpc_rows = 1},
    EngineConfiguration{.shape = kFp8Shape, .early = true},
    EngineConfiguration{.shape = kFp8Shape, .early = true, .gpc_rows = 1},
    EngineConfiguration{.shape = kFp8Shape, .lead = 1, .early = true, .gpc_rows = 1},
    EngineConfiguration{.shape = kFp8StreamShape192, .lead = 1, .early = true},
    EngineConfiguration{.shape = kFp8StreamShape192, .lead = 1, .early = true, .gpc_rows = 1},
    EngineConfiguration{.shape = kFp8StreamShape, .early = true},
    EngineConfiguration{.shape = kFp8StreamShape, .early = true, .gpc_rows = 1},
};

}  // namespace

std::string name_of(const EngineConfiguration& configuration) {
  const TileShape& shape = configuration.shape;
  std::string name = fmt::format("{}x{}_{}x{}_s{}", shape.tile_m, shape.tile_n, shape.cluster_m,
                                 shape.cluster_n, shape.stages);
  if (shape.in_turn) name += "_turn";
  if (shape.stream_k) name += "_streamk";
  if (shape.split > 1) name += fmt::format("_k{}", shape.split);
  name += fmt::format("_{}{}", configuration.group_along_n ? 'n' : 'm', configuration.group);
  if (configuration.gpc_rows != 0) name += fmt::format("_g{}", configuration.gpc_rows);
  if (configuration.lead != 0) name += fmt::format("_lead{}", configuration.lead);
  if (configuration.early) name += "_early";
  if (configuration.streams_c) name += "_stream";
  if (configuration.keeps) name += "_keep";
  return name;
}

std::span<const EngineConfiguration> engine_configurations() { return kConfigurations; }
std::span<const EngineConfiguration> fp8_configurations() { return kFp8Configurations; }

}  // namespace tidemark::kernels
