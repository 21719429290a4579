// What can be chosen about a launch of the engine, and what each choice is called. No CUDA header.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "kernels/cuda/gemm/engine/tile_shape.hpp"

namespace tidemark::kernels {

/// All that can be chosen about one launch. None of it changes a sum but for `shape.split` and
/// `shape.stream_k`.
struct EngineConfiguration {
  TileShape shape{};
  std::uint32_t group = 8;     // tiles of a cluster that are walked before the next row of them
  bool group_along_n = false;  // the walk is along N, not along M
  std::uint32_t lead = 0;      // stages that one warpgroup is ahead; below shape.stages
  bool early = false;          // begins, up to its first load, before the launch before has ended
  bool streams_c = false;      // C is the first to leave L2
  bool keeps = false;          // the operand that a group shares is the last: A, along N B
  // Rows of tiles that clusters of one GPC share (placement.hpp); 0: as they come.
  std::uint32_t gpc_rows = 0;

  constexpr bool operator==(const EngineConfiguration&) const = default;
};

/// "128x256_2x1_s4_m8_lead1_early": tile, cluster, stages; then "turn" where warpgroups multiply in
/// turn, "streamk" where clusters share out the K of the last tiles, k2 where K is split over two,
/// the group and its direction, g1 where a GPC has one row of tiles, and what else is not as usual.
/// No two configurations of one of the lists below share a name.
std::string name_of(const EngineConfiguration& configuration);

/// All that a tuning run tries, the top of the ladder in the engine's terms first.
std::span<const EngineConfiguration> engine_configurations();

/// The same of e4m3 and e5m2. Reports name them by their number: new ones come last.
std::span<const EngineConfiguration> fp8_configurations();

}  // namespace tidemark::kernels
