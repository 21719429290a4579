// cp.async.bulk.tensor.{1..5}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
// .multicast::cluster: one box from global memory to several blocks of a cluster at once.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/ops/tile_load.hpp"

namespace tidemark::kernels {

/// One tile load, multicast in a grid of one cluster. Blocks (CTAs) are named by their rank in the
/// cluster, PTX %cluster_ctarank; bit r of `mask` is the block of rank r. Every block has the same
/// shared window (window_bytes(load)) at the same offset, and an mbarrier of count 1 at the same
/// offset; data and credit of a multicast go to those offsets in each block of the mask.
/// With `slices` n > 1 the box is cut into n equal slices along its outermost dimension. Slice i is
/// multicast by block (issuer + i) mod cluster size, each by a copy of its own, to all of the mask.
/// The device
///   1. fills the source allocation with source_element_word() and each window with
///      cluster_poison_byte();
///   2. has every block initialise its barriers, and lets nobody go on before all have;
///   3. first copy: each block records test_wait(phase 0), those in the mask announce
///      tile_bytes(load.map) with arrive.expect_tx; when all have, the issuers issue; those in the
///      mask wait (bounded) for phase 0, the others let 0.1 ms go by and test phase 0;
///   4. reads every window back;
///   5. second copy: blocks whose phase 0 completed record test_wait(phase 1), announce again and
///      wait for phase 1 of the same barrier. Those outside the mask test phase 0 once more, and
///      then arrive at it once: it completes if, and only if, their tx-count is still 0;
///   6. meters the credit of a third copy on a fresh barrier in every block, in the mask or not;
///   7. reads the source back.
/// With `late_arm` the blocks of the mask announce, in steps 3 and 5, only after the issuers have
/// issued and 0.1 ms have gone by, and test their phase just before: the tx-count is negative by
/// then, which is legal. PTX ISA 9.0, 9.7.13.15.2.
struct MulticastLoad {
  TileLoad load;
  std::array<std::uint32_t, 3> cluster{1, 1, 1};  // blocks along x, y and z; 16 at most
  std::uint16_t mask = 1;                         // ctaMask
  std::uint32_t issuer = 0;  // rank of the block that issues (slice 0); may be outside the mask
  std::uint32_t slices = 1;  // 1 to cluster size
  bool late_arm = false;
};

constexpr Payload& payload_of(MulticastLoad& multicast) { return multicast.load.payload; }

/// Most blocks of a cluster that any GPU can be asked for without
/// cudaFuncAttributeNonPortableClusterSizeAllowed, and with. CUDA C++ Programming Guide, "Thread
/// Block Clusters".
inline constexpr std::uint32_t kPortableClusterMax = 8;
inline constexpr std::uint32_t kClusterMax = 16;

constexpr std::uint32_t cluster_size(const MulticastLoad& multicast) {
  return multicast.cluster[0] * multicast.cluster[1] * multicast.cluster[2];
}

/// Whether the block of this rank is in the mask.
constexpr bool is_masked(const MulticastLoad& multicast, std::uint32_t rank) {
  return (multicast.mask >> rank & 1U) != 0;
}

/// What is XORed to the poison of each byte in the window of a rank: another value in each of 16,
/// so that the windows of two blocks cannot be taken for each other.
constexpr std::uint8_t cluster_poison_twist(std::uint32_t rank) {
  return static_cast<std::uint8_t>(0x11U * (rank & 0xfU));
}

/// Byte `offset` of the window of a rank before anything is copied.
constexpr std::uint8_t cluster_poison_byte(const Payload& payload, std::uint32_t rank,
                                           std::uint64_t offset) {
  return static_cast<std::uint8_t>(poison_byte(payload, offset) ^ cluster_poison_twist(rank));
}

/// Slice `index` of the box as a load of its own: the map that is encoded has the box of a slice.
constexpr TileLoad slice_of(const MulticastLoad& multicast, std::uint32_t index) {
  TileLoad slice = multicast.load;
  const std::uint32_t outermost = slice.map.rank - 1;
  slice.map.box[outermost] /= multicast.slices;
  slice.at[outermost] += static_cast<std::int32_t>(index * slice.map.box[outermost]);
  slice.destination_offset += index * tile_bytes(slice.map);
  return slice;
}

/// Why no device may run this: a sentence, or null. What is refused here would fault (a mask bit
/// beyond the cluster) or is not documented (an empty mask), or is no multicast at all.
constexpr const char* refusal_of(const MulticastLoad& multicast) {
  for (const std::uint32_t blocks : multicast.cluster)
    if (blocks < 1 || blocks > kClusterMax) return "a cluster has 1 to 16 blocks a dimension";
  const std::uint32_t size = cluster_size(multicast);
  if (size > kClusterMax) return "a cluster has at most 16 blocks";
  if (multicast.mask == 0) return "what an empty mask does is not documented";
  if (multicast.mask >> size != 0) return "a mask bit beyond the cluster faults";
  if (multicast.issuer >= size) return "the issuer is no block of the cluster";
  if (multicast.slices < 1 || multicast.slices > size)
    return "each slice needs a block of its own to issue it";
  const TensorMapSpec& map = multicast.load.map;
  if (map.rank < 1 || map.rank > kMaxRank) return "the rank of a tensor is 1 to 5";
  if (multicast.slices == 1) return nullptr;
  const std::uint32_t outermost = map.rank - 1;
  if (map.box[outermost] % multicast.slices != 0) return "the slices of the box are not equal";
  const std::uint32_t step = outermost == 0 ? 1 : map.element_stride[outermost];
  if (step == 0 || map.box[outermost] / multicast.slices % step != 0)
    return "a slice of the box is no multiple of the element stride";
  if (tile_bytes(slice_of(multicast, 0).map) % 128 != 0)
    return "a slice that is no multiple of 128 bytes starts the next one off 128 bytes";
  return nullptr;
}

}  // namespace tidemark::kernels
