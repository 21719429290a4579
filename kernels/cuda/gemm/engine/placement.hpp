// Which tile each cluster of a launch begins with, so that those that run in one GPC read the same
// rows of A. Plain arithmetic; where clusters run is for gpcs.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace tidemark {

/// Clusters of the largest grid that is placed: a block an SM of any sm_90 chip.
inline constexpr std::uint32_t kMostPlaced = 144;

/// What a GPC's clusters are given: so many neighbouring rows of tiles, and of each as many
/// neighbours as `clusters` allow.
struct GpcPatch {
  std::uint32_t rows = 1;
  std::uint32_t clusters = 8;  // that a GPC holds, or fewer
};

/// First tile of each cluster of a grid of `gpcs.size()`, whose numbers of GPCs are in order of the
/// clusters; where tiles are walked `group` rows high (raster.hpp). Every tile below that size is
/// somebody's. A cluster goes on from its first tile in steps of the grid, so that what a GPC
/// shares it shares to the end, wherever the grid is a multiple of `rows`. As they come where
/// `rows` does not divide `group`.
std::vector<std::uint8_t> first_tiles(const std::vector<std::uint32_t>& gpcs, std::uint32_t group,
                                      const GpcPatch& patch);

}  // namespace tidemark
