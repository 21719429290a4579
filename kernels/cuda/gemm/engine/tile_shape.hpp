// What a kernel of the engine is compiled for: its tile, its cluster, its ring. Plain arithmetic,
// so that host and kernel agree on every size and a test without a GPU can hold them.
#pragma once

#include <cstdint>

#include "kernels/ops/gemm/mma_element.hpp"

namespace tidemark::kernels {

/// Two consumer warpgroups multiply one tile of C, or a tile each; a cluster works on cluster_m x
/// cluster_n neighbouring tiles and shares what they read of A and B; `split` blocks of a cluster
/// share the K of one tile.
struct TileShape {
  std::uint32_t tile_m = 128, tile_n = 256;  // of C, per block
  std::uint32_t cluster_m = 1, cluster_n = 1;
  std::uint32_t split = 1;
  std::uint32_t stages = 4;
  std::uint32_t boxes = 2;  // of staging a warp: 2 KiB each
  bool in_turn = false;     // a warpgroup has every other tile: one stores, the other multiplies
  bool stream_k = false;    // clusters share out evenly the K of the last tiles (stream_k.cuh)

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
inline constexpr std::uint32_t kMostSharedBytes =
    232448;  // dynamic shared memory of an sm_90 block

constexpr std::uint32_t blocks_of(const TileShape& shape) {
  return shape.cluster_m * shape.cluster_n * shape.split;
}

/// Consumer warpgroups that multiply one tile, and so read each stage.
constexpr std::uint32_t warpgroups_of_tile(const TileShape& shape) {
  return shape.in_turn ? 1 : kConsumerWarpgroups;
}
/// Rows of C, per warpgroup: two that share a tile lie one above the other.
constexpr std::uint32_t warpgroup_rows(const TileShape& shape) {
  return shape.tile_m / warpgroups_of_tile(shape);
}
/// Accumulators of a thread, for 64 rows.
constexpr std::uint32_t accumulators(const TileShape& shape) { return shape.tile_n / 2; }

/// What one block of the cluster loads of its tile's A and B; the others bring the rest.
constexpr std::uint32_t slice_m(const TileShape& shape) { return shape.tile_m / shape.cluster_n; }
constexpr std::uint32_t slice_n(const TileShape& shape) { return shape.tile_n / shape.cluster_m; }
/// The same of an operand whose N is contiguous, which comes in runs of 64: at most, the last block
/// brings what is left.
constexpr std::uint32_t run_slice_n(const TileShape& shape) {
  return (shape.tile_n / 64 + shape.cluster_m - 1) / shape.cluster_m * 64;
}

/// Blocks into whose memory a block loads, itself included: those that share its A or its B.
constexpr std::uint32_t peers_of(const TileShape& shape) {
  return shape.cluster_m + shape.cluster_n - 1;
}

/// Where a block of the cluster stands, by its rank in it.
struct ClusterPlace {
  std::uint32_t part = 0;  // of K
  std::uint32_t m = 0, n = 0;
};
constexpr ClusterPlace cluster_place(const TileShape& shape, std::uint32_t rank) {
  const std::uint32_t tile = rank / shape.split;
  return {rank % shape.split, tile % shape.cluster_m, tile / shape.cluster_m};
}
constexpr std::uint32_t cluster_rank(const TileShape& shape, const ClusterPlace& at) {
  return (at.n * shape.cluster_m + at.m) * shape.split + at.part;
}

/// Rank of peer `index`, below peers_of(): first those above and below, which share B, then those
/// beside, which share A.
constexpr std::uint32_t peer_rank(const TileShape& shape, const ClusterPlace& at,
                                  std::uint32_t index) {
  ClusterPlace peer = at;
  if (index < shape.cluster_m)
    peer.m = index;
  else
    peer.n = index - shape.cluster_m + (index - shape.cluster_m >= at.n ? 1 : 0);
  return cluster_rank(shape, peer);
}

/// Bit r is set where the block of rank r multiplies the same rows of A, or columns of B.
constexpr std::uint16_t sharers_of_a(const TileShape& shape, const ClusterPlace& at) {
  std::uint32_t mask = 0;
  for (std::uint32_t n = 0; n < shape.cluster_n; ++n)
    mask |= 1U << cluster_rank(shape, {at.part, at.m, n});
  return static_cast<std::uint16_t>(mask);
}
constexpr std::uint16_t sharers_of_b(const TileShape& shape, const ClusterPlace& at) {
  std::uint32_t mask = 0;
  for (std::uint32_t m = 0; m < shape.cluster_m; ++m)
    mask |= 1U << cluster_rank(shape, {at.part, m, at.n});
  return static_cast<std::uint16_t>(mask);
}

/// Bytes of one stage of the ring: 64 k of the tile's A and B, 128 k of fp8.
constexpr std::uint32_t stage_bytes(const TileShape& shape) {
  return (shape.tile_m + shape.tile_n) * kEngineRowBytes;
}
constexpr std::uint32_t staging_bytes(const TileShape& shape) {
  return kEngineConsumerWarps * shape.boxes * 2048;
}
/// Registers of a thread of the producer's warpgroup and of a consumer's, after setmaxnreg:
/// 128 x (40 + 2 x 232) are what the launch gave 384 threads at 168 each.
inline constexpr std::uint32_t kProducerRegisters = 40;
inline constexpr std::uint32_t kConsumerRegisters = 232;

/// Dynamic shared memory: ring, staging, barriers, five words.
constexpr std::uint32_t shared_bytes(const TileShape& shape) {
  return shape.stages * stage_bytes(shape) + staging_bytes(shape) + 2 * 8 * shape.stages + 32;
}
/// Bytes of the sums of a tile of stream_k, at most: what a block leaves for the next cluster.
inline constexpr std::uint32_t kGivenBytes = 128 * 256 * 4;
/// Bytes that the parts of a tile hand each other: each adds up one share of the columns.
constexpr std::uint32_t exchanged_bytes(const TileShape& shape) {
  return (shape.split - 1) * shape.tile_m * (shape.tile_n / shape.split) * 4;
}

/// Whether a kernel can be made of it.
constexpr bool is_sound(const TileShape& shape) {
  const bool tile = warpgroup_rows(shape) % 64 == 0 && shape.tile_n % 8 == 0;
  bool width = false;  // what wgmma_wide.cuh has
  for (const std::uint32_t sums : {64U, 84U, 88U, 92U, 96U, 100U, 128U})
    width = width || accumulators(shape) == sums;
  // A slice is one box of at most 256 rows. It may begin at any row: TMA swizzles by the address.
  const bool slices = shape.tile_m % shape.cluster_n == 0 && shape.tile_n % shape.cluster_m == 0 &&
                      slice_m(shape) <= 256 && slice_n(shape) <= 256;
  const bool registers =
      warpgroup_rows(shape) / 64 * accumulators(shape) + 40 <= kConsumerRegisters;
  // Shares of the columns are whole boxes of 64, and the blocks of a split have one tile only.
  const bool parts = shape.split == 1 ||
                     (!shape.in_turn && shape.split == 2 && shape.tile_n / shape.split % 64 == 0);
  const bool shares = !shape.stream_k || shape.split == 1;
  return tile && width && slices && registers && parts && shares && shape.boxes > 0 &&
         blocks_of(shape) <= 8 && shared_bytes(shape) <= kMostSharedBytes &&
         exchanged_bytes(shape) <= shape.stages * stage_bytes(shape);
}

/// Of stream-K: in turn, as most products get them; of plain ones wider, where each cluster has
/// less than two of those tiles; where B is K-major, whose columns this width fills better; and
/// beside each other, where rows of 256 would reach far past the end of C.
inline constexpr TileShape kTurnStreamShape{
    .tile_n = 192, .cluster_m = 2, .stages = 5, .boxes = 1, .in_turn = true, .stream_k = true};
inline constexpr TileShape kStreamShape{
    .tile_m = 128, .tile_n = 256, .cluster_m = 2, .stream_k = true};
inline constexpr TileShape kStreamShape200{
    .tile_m = 128, .tile_n = 200, .cluster_m = 2, .stream_k = true};
inline constexpr TileShape kStreamBesideShape{
    .tile_m = 128, .tile_n = 256, .cluster_n = 2, .stream_k = true};

/// Of the sums of a thread those that an fp8 kernel promotes at once: all of them, or one half and
/// then the other. It holds these twice, the tensor core's and the fp32 ones that they are added
/// to, and has registers for 192 in all.
constexpr std::uint32_t promoted_at_once(const TileShape& shape) {
  return 2 * accumulators(shape) <= 192 ? accumulators(shape) : accumulators(shape) / 2;
}
inline constexpr TileShape kFp8Shape{.tile_m = 128, .tile_n = 256, .cluster_m = 2};
inline constexpr TileShape kFp8StreamShape{
    .tile_m = 128, .tile_n = 256, .cluster_m = 2, .stream_k = true};
/// For products that reach less far past their end, or whose rounds they fill better.
inline constexpr TileShape kFp8Shape192{.tile_m = 128, .tile_n = 192, .cluster_m = 2, .stages = 4};
inline constexpr TileShape kFp8StreamShape192{
    .tile_m = 128, .tile_n = 192, .cluster_m = 2, .stages = 4, .stream_k = true};
inline constexpr TileShape kFp8NarrowShape{
    .tile_m = 128, .tile_n = 128, .cluster_m = 2, .stages = 6};

}  // namespace tidemark::kernels
