// Which tile each cluster begins with, so that those of one GPC share rows of A.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace tidemark {

/// SMs, and so clusters, of the largest sm_90 chip.
inline constexpr std::uint32_t kMostPlacedSms = 144;
static_assert(kMostPlacedSms <= 255, "tiles and GPCs are kept in bytes");
/// GPCs that there is room for: eight, and TPCs that no larger cluster has, each by itself.
inline constexpr std::uint32_t kMostGpcs = 24;

/// How a device's SMs lie together, by numbers of GPCs from 0 on.
struct GpcsOfDevice {
  std::vector<std::uint32_t> of_sm;
  std::vector<std::uint32_t> of_cluster;  // as many as run at once, in the order they are placed
};

/// What a GPC's clusters are given: so many neighbouring rows of tiles, and of each as many
/// neighbours as `clusters` allow.
struct GpcPatch {
  std::uint32_t rows = 1;
  std::uint32_t clusters = 8;  // that a GPC holds, or fewer
};

/// First tile of each cluster of a grid of `gpcs.size()`, whose GPCs are in order of the clusters;
/// where tiles are walked `group` rows high (c_tiles.hpp). Every tile below that size is
/// somebody's. A cluster goes on from its first tile in steps of the grid: clusters that begin in
/// one row go on in one row. As they come where patch.rows does not divide `group`.
std::vector<std::uint8_t> first_tiles(const std::vector<std::uint32_t>& gpcs, std::uint32_t group,
                                      const GpcPatch& patch);

/// first_tiles() for a kernel, whose clusters run wherever an SM is free: each takes the next tile
/// of its GPC, and of another one where those are gone.
struct GpcTiles {
  std::uint32_t gpcs = 0;
  std::array<std::uint8_t, kMostGpcs + 1> begin{};  // of each GPC's, in `tiles`; then the end
  std::array<std::uint8_t, kMostPlacedSms> tiles{};
  std::array<std::uint8_t, kMostPlacedSms> gpc_of_sm{};
};

/// Of a grid of `clusters`. No GPCs where those of the device are not known, or more than there is
/// room for, and where tiles would be taken as they come.
GpcTiles gpc_tiles(const GpcsOfDevice& device, std::uint32_t clusters, std::uint32_t group,
                   const GpcPatch& patch);

/// The GPCs of the current device, and in which of them clusters of `blocks` blocks run, an SM to
/// each block. No API tells it: small launches of clusters of several sizes show which SMs are
/// neighbours, and one more where clusters go. Once a device and process, behind all that runs
/// there, and up to three times where another process is in the way; empty where that did not help
/// or a launch failed. Says nothing of what is right, only of what is near. Throws StickyError
/// where the GPU is lost.
GpcsOfDevice gpcs_of_device(std::uint32_t blocks);

}  // namespace tidemark
