// What a kernel of the engine is compiled for, what can be chosen about a launch of it, and what
// each choice is called. Plain arithmetic: host and kernel agree on every size, and a test without
// a GPU checks it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "kernels/ops/gemm/mma_element.hpp"

namespace tidemark {

/// Two consumer warpgroups share one tile of C, or have a tile each (ping-pong). A cluster works on
/// `cluster_m` tiles, one below the other, and shares what they read of B.
struct TileShape {
  std::uint32_t tile_m = 128, tile_n = 256;  // of C, per CTA
  std::uint32_t cluster_m = 1;
  std::uint32_t stages = 4;
  std::uint32_t boxes = 2;  // of staging a warp: 2 KiB each
  bool ping_pong = false;   // a warpgroup has every other tile: one stores, the other multiplies

  constexpr bool operator==(const TileShape&) const = default;
};

inline constexpr std::uint32_t kEngineTileK = 64;  // 128 bytes of 16-bit elements: a swizzle span
inline constexpr std::uint32_t kFp8TileK = 128;    // the same of 8-bit elements
inline constexpr std::uint32_t kEngineRowBytes = 128;
/// wgmma of a stage: one multiplies 16 k, of fp8 32.
inline constexpr std::uint32_t kStepsOfStage = kEngineRowBytes / kStepBytes;
inline constexpr std::uint32_t kConsumerWarpgroups = 2;
inline constexpr std::uint32_t kEngineThreads = 128 * (1 + kConsumerWarpgroups);
inline constexpr std::uint32_t kEngineConsumerWarps = 4 * kConsumerWarpgroups;
/// Dynamic shared memory of a CTA of sm_90.
inline constexpr std::uint32_t kMostSharedBytes = 232448;
/// Registers of a thread of the producer's warpgroup and of a consumer's, after setmaxnreg:
/// 128 x (40 + 2 x 232) are what the launch gave 384 threads at 168 each.
inline constexpr std::uint32_t kProducerRegisters = 40;
inline constexpr std::uint32_t kConsumerRegisters = 232;

/// Consumer warpgroups that multiply one tile, and so read each stage.
constexpr std::uint32_t warpgroups_of_tile(const TileShape& shape) {
  return shape.ping_pong ? 1 : kConsumerWarpgroups;
}
/// Rows of C, per warpgroup: two that share a tile lie one above the other.
constexpr std::uint32_t warpgroup_rows(const TileShape& shape) {
  return shape.tile_m / warpgroups_of_tile(shape);
}
/// Accumulators of a thread, for 64 rows.
constexpr std::uint32_t accumulators(const TileShape& shape) { return shape.tile_n / 2; }

/// Columns of B that one CTA of the cluster loads; the others load the rest.
constexpr std::uint32_t slice_n(const TileShape& shape) { return shape.tile_n / shape.cluster_m; }
/// The same of an operand whose N is contiguous, which comes in runs of 64: at most, the last CTA
/// loads what is left.
constexpr std::uint32_t run_slice_n(const TileShape& shape) {
  return (shape.tile_n / 64 + shape.cluster_m - 1) / shape.cluster_m * 64;
}

/// Bytes of one stage of the ring: 64 k of the tile's A and B, 128 k of fp8.
constexpr std::uint32_t stage_bytes(const TileShape& shape) {
  return (shape.tile_m + shape.tile_n) * kEngineRowBytes;
}
/// Dynamic shared memory: ring, staging, barriers, three words.
constexpr std::uint32_t shared_bytes(const TileShape& shape) {
  return shape.stages * stage_bytes(shape) + kEngineConsumerWarps * shape.boxes * 2048 +
         2 * 8 * shape.stages + 16;
}

/// Whether a kernel can be made of it.
constexpr bool is_sound(const TileShape& shape) {
  const std::uint32_t sums = accumulators(shape);
  const bool width = sums == 64 || sums == 96 || sums == 128;  // ptx/wgmma.cuh has these
  // A slice is one box of at most 256 rows. It may begin at any row: TMA swizzles by the address.
  const bool slices = shape.tile_n % shape.cluster_m == 0 && slice_n(shape) <= 256;
  const bool registers = warpgroup_rows(shape) / 64 * sums + 40 <= kConsumerRegisters;
  return warpgroup_rows(shape) % 64 == 0 && width && slices && registers && shape.boxes > 0 &&
         shape.cluster_m <= 8 && shared_bytes(shape) <= kMostSharedBytes;
}

/// Of the sums of a thread those that an fp8 kernel promotes at once: all of them, or one half and
/// then the other. It holds these twice, the tensor core's and the fp32 ones that they are added
/// to, and has registers for 192 in all.
constexpr std::uint32_t promoted_at_once(const TileShape& shape) {
  return 2 * accumulators(shape) <= 192 ? accumulators(shape) : accumulators(shape) / 2;
}

// All shapes. The widest wgmma reads the fewest bytes of shared memory; pairs of CTAs share B.
inline constexpr TileShape kWidePair{.tile_m = 128, .tile_n = 256, .cluster_m = 2};
inline constexpr TileShape kPingPong192{
    .tile_n = 192, .cluster_m = 2, .stages = 5, .boxes = 1, .ping_pong = true};
// For GEMMs of few tiles.
inline constexpr TileShape kWide{.tile_m = 128, .tile_n = 256};
inline constexpr TileShape kPingPongSmall{
    .tile_m = 64, .tile_n = 128, .stages = 7, .ping_pong = true};
// Of fp8, whose sums leave no registers for ping-pong; 192 columns reach less far past the end of
// some GEMMs, or fill their waves better.
inline constexpr TileShape kFp8Wide = kWidePair;
inline constexpr TileShape kFp8Narrower{.tile_m = 128, .tile_n = 192, .cluster_m = 2};

/// All that can be chosen about one launch. None of it changes a sum but for `stream_k`.
struct EngineConfiguration {
  TileShape shape{};
  bool stream_k = false;    // clusters share out evenly the K of the last tiles (stream_k.hpp)
  std::uint32_t group = 8;  // tiles of a cluster along M before the next column of them
  bool stagger = false;     // one warpgroup is a k-block ahead; not with ping-pong
  bool pdl = false;         // begins, up to its first load, before the launch before has ended
  // Rows of tiles that clusters of one GPC share (placement.hpp); 0: as they come.
  std::uint32_t gpc_rows = 0;

  constexpr bool operator==(const EngineConfiguration&) const = default;
};

/// "128x256_2x1_s4_m8_g1_lead1_early": tile, cluster, stages; then "turn" for ping-pong, "streamk",
/// the group, "g1" where a GPC has one row of tiles, "lead1" for stagger and "early" for PDL. No
/// two configurations of one of the lists below share a name.
std::string name_of(const EngineConfiguration& configuration);

/// All of bf16 that a GEMM can get, and that the tuner tries.
std::span<const EngineConfiguration> engine_configurations();

/// The same of e4m3 and e5m2.
std::span<const EngineConfiguration> fp8_configurations();

}  // namespace tidemark
