// cp.async.bulk.tensor.{1..5}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
// .multicast::cluster: one box from global memory to several CTAs of a cluster at once.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/ops/program/program.hpp"

namespace tidemark::kernels {

/// One tile load, multicast in a cluster. CTAs are named by their rank in the cluster; bit r of
/// `mask` is the CTA of rank r. Each CTA has a window of window_bytes(load), and a barrier of count
/// 1. With `slices` n > 1 the box is cut into n equal slices along its outermost dimension. Slice i
/// is multicast by CTA (issuer + i) mod cluster size, each by a copy of its own, to all of the
/// mask. Twice over, the CTAs of the mask announce tile_bytes(load.map), the issuers issue when all
/// have, and each of the mask waits and hands its window out. With `late_arm` they announce only
/// after the issuers have issued and 0.1 ms have gone by: the tx-count is negative by then, which
/// is legal. PTX ISA 9.0, 9.7.13.15.2. What the CTAs outside the mask have is seen by the checks of
/// every program.
struct MulticastLoad {
  TileLoad load;
  std::array<std::uint32_t, 3> cluster{1, 1, 1};  // CTAs along x, y and z; 16 at most
  std::uint16_t mask = 1;                         // ctaMask
  std::uint32_t issuer = 0;  // rank of the CTA that issues (slice 0); may be outside the mask
  std::uint32_t slices = 1;  // 1 to cluster size
  bool late_arm = false;
};

constexpr Payload& payload_of(MulticastLoad& multicast) { return multicast.load.payload; }

constexpr std::uint32_t cluster_size(const MulticastLoad& multicast) {
  return multicast.cluster[0] * multicast.cluster[1] * multicast.cluster[2];
}

/// Whether the CTA of this rank is in the mask.
constexpr bool is_masked(const MulticastLoad& multicast, std::uint32_t rank) {
  return (multicast.mask >> rank & 1U) != 0;
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
  for (const std::uint32_t along : multicast.cluster)
    if (along < 1 || along > kProgramCtas) return "a cluster has 1 to 16 CTAs a dimension";
  const std::uint32_t size = cluster_size(multicast);
  if (size > kProgramCtas) return "a cluster has at most 16 CTAs";
  if (multicast.mask == 0) return "what an empty mask does is not documented";
  if (multicast.mask >> size != 0) return "a mask bit beyond the cluster faults";
  if (multicast.issuer >= size) return "the issuer is no CTA of the cluster";
  if (multicast.slices < 1 || multicast.slices > size)
    return "each slice needs a CTA of its own to issue it";
  const TensorMapSpec& map = multicast.load.map;
  if (map.rank < 1 || map.rank > kMaxRank) return "the rank of a tensor is 1 to 5";
  if (multicast.slices == 1) return nullptr;
  if (map.im2col) return "the pixels of an im2col map have no slices";
  const std::uint32_t outermost = map.rank - 1;
  if (map.box[outermost] % multicast.slices != 0) return "the slices of the box are not equal";
  const std::uint32_t step = outermost == 0 ? 1 : map.element_stride[outermost];
  if (step == 0 || map.box[outermost] / multicast.slices % step != 0)
    return "a slice of the box is no multiple of the element stride";
  if (tile_bytes(slice_of(multicast, 0).map) % 128 != 0)
    return "a slice that is no multiple of 128 bytes starts the next one off 128 bytes";
  return nullptr;
}

/// Throws Error where refusal_of(multicast) says why.
Program program_of(const MulticastLoad& multicast);

}  // namespace tidemark::kernels
