// Which tile each cluster begins with, so that those of one GPC share rows of A.
#include "kernels/cuda/gemm/engine/placement.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace tidemark {
namespace {

/// Clusters of each GPC, the fullest GPC first.
std::vector<std::vector<std::uint32_t>> by_gpc(const std::vector<std::uint32_t>& gpcs) {
  std::vector<std::vector<std::uint32_t>> members;
  for (std::uint32_t cluster = 0; cluster < gpcs.size(); ++cluster) {
    if (gpcs[cluster] >= members.size()) members.resize(gpcs[cluster] + 1);
    members[gpcs[cluster]].push_back(cluster);
  }
  std::stable_sort(members.begin(), members.end(),
                   [](const auto& left, const auto& right) { return left.size() > right.size(); });
  return members;
}

}  // namespace

std::vector<std::uint8_t> first_tiles(const std::vector<std::uint32_t>& gpcs, std::uint32_t group,
                                      const GpcPatch& patch) {
  const auto clusters = static_cast<std::uint32_t>(gpcs.size());
  std::vector<std::uint8_t> first(clusters);
  std::iota(first.begin(), first.end(), std::uint8_t{0});
  const std::uint32_t columns = group == 0 ? 0 : clusters / group;
  const std::uint32_t wide = std::min(patch.clusters / patch.rows, columns);
  if (wide == 0 || group % patch.rows != 0) return first;

  const std::uint32_t across = columns / wide;
  const std::uint32_t patches = group / patch.rows * across;
  std::vector<bool> taken(clusters);
  std::vector<std::uint32_t> left;  // clusters without a tile
  std::uint32_t next = 0;           // patch
  for (const std::vector<std::uint32_t>& members : by_gpc(gpcs)) {
    std::size_t at = 0;
    for (; next < patches && members.size() - at >= patch.rows * wide; ++next)
      for (std::uint32_t i = 0; i < patch.rows * wide; ++i) {
        const std::uint32_t row = next / across * patch.rows + i % patch.rows;
        const std::uint32_t column = next % across * wide + i / patch.rows;
        first[members[at++]] = static_cast<std::uint8_t>(row + group * column);
        taken[row + group * column] = true;
      }
    left.insert(left.end(), members.begin() + static_cast<std::ptrdiff_t>(at), members.end());
  }
  // Behind the last whole column first: there the rows of the fullest GPCs go on, whose clusters
  // are the first that are left.
  std::vector<std::uint32_t> free;
  for (std::uint32_t tile = group * columns; tile < clusters; ++tile) free.push_back(tile);
  for (std::uint32_t row = 0; row < group; ++row)
    for (std::uint32_t tile = row; tile < group * columns; tile += group)
      if (!taken[tile]) free.push_back(tile);
  for (std::size_t i = 0; i < left.size(); ++i) first[left[i]] = static_cast<std::uint8_t>(free[i]);
  return first;
}

GpcTiles gpc_tiles(const GpcsOfDevice& device, std::uint32_t clusters, std::uint32_t group,
                   const GpcPatch& patch) {
  const std::uint32_t gpcs =
      device.of_sm.empty() ? 0 : 1 + *std::max_element(device.of_sm.begin(), device.of_sm.end());
  if (gpcs == 0 || gpcs > kMostGpcs || device.of_sm.size() > kMostPlacedSms ||
      clusters > kMostPlacedSms || device.of_cluster.size() < clusters)
    return {};
  std::vector<std::uint32_t> placed = device.of_cluster;
  placed.resize(clusters);
  const std::vector<std::uint8_t> first = first_tiles(placed, group, patch);
  if (std::is_sorted(first.begin(), first.end())) return {};  // as they come
  GpcTiles tiles{.gpcs = gpcs};
  std::uint8_t at = 0;
  for (std::uint32_t gpc = 0; gpc < gpcs; ++gpc) {
    tiles.begin[gpc] = at;
    for (std::uint32_t cluster = 0; cluster < clusters; ++cluster)
      if (placed[cluster] == gpc) tiles.tiles[at++] = first[cluster];
  }
  tiles.begin[gpcs] = at;
  std::copy(device.of_sm.begin(), device.of_sm.end(), tiles.gpc_of_sm.begin());
  return tiles;
}

}  // namespace tidemark
