// Which configurations there are: data, meant to be changed by what a tuning run measures.
#include "kernels/cuda/gemm/engine/configuration.hpp"

#include <fmt/format.h>

#include <array>

namespace tidemark {
namespace {

constexpr std::array kConfigurations = {
    EngineConfiguration{.shape = kWidePair, .stagger = true, .pdl = true},
    EngineConfiguration{.shape = kWidePair, .stagger = true, .pdl = true, .gpc_rows = 1},
    EngineConfiguration{
        .shape = kWidePair, .group = 16, .stagger = true, .pdl = true, .gpc_rows = 2},
    EngineConfiguration{
        .shape = kWidePair, .stream_k = true, .stagger = true, .pdl = true, .gpc_rows = 1},
    EngineConfiguration{.shape = kPingPong192, .pdl = true},
    EngineConfiguration{.shape = kPingPong192, .pdl = true, .gpc_rows = 1},
    EngineConfiguration{.shape = kPingPong192, .group = 16, .pdl = true, .gpc_rows = 2},
    EngineConfiguration{.shape = kPingPong192, .stream_k = true, .pdl = true, .gpc_rows = 1},
    EngineConfiguration{.shape = kWide, .group = 16, .pdl = true},
    EngineConfiguration{.shape = kPingPongSmall, .pdl = true},
};

constexpr std::array kFp8Configurations = {
    EngineConfiguration{.shape = kFp8Wide, .pdl = true, .gpc_rows = 1},
    EngineConfiguration{.shape = kFp8Wide, .stream_k = true, .pdl = true, .gpc_rows = 1},
    EngineConfiguration{.shape = kFp8Narrower, .stagger = true, .pdl = true, .gpc_rows = 1},
    EngineConfiguration{
        .shape = kFp8Narrower, .stream_k = true, .stagger = true, .pdl = true, .gpc_rows = 1},
};

}  // namespace

std::string name_of(const EngineConfiguration& configuration) {
  const TileShape& shape = configuration.shape;
  std::string name =
      fmt::format("{}x{}_{}x1_s{}", shape.tile_m, shape.tile_n, shape.cluster_m, shape.stages);
  if (shape.ping_pong) name += "_turn";
  if (configuration.stream_k) name += "_streamk";
  name += fmt::format("_m{}", configuration.group);
  if (configuration.gpc_rows != 0) name += fmt::format("_g{}", configuration.gpc_rows);
  if (configuration.stagger) name += "_lead1";
  if (configuration.pdl) name += "_early";
  return name;
}

std::span<const EngineConfiguration> engine_configurations() { return kConfigurations; }
std::span<const EngineConfiguration> fp8_configurations() { return kFp8Configurations; }

}  // namespace tidemark
