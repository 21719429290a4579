// The order in which tiles of C are taken, so that those in work at one time share rows of A and B
// in L2.
#pragma once

#include <cstdint>

namespace tidemark {

/// A tile of C, in tiles.
struct TileAt {
  std::uint32_t m = 0;
  std::uint32_t n = 0;
};

/// Tiles along M that are walked before the next column of tiles.
inline constexpr std::uint32_t kRasterGroup = 8;

/// Tile `index` of `m_tiles` x `n_tiles`: groups of `group` rows of tiles, the last one lower
/// where m_tiles is no multiple; within a group down M first. Every index below
/// m_tiles * n_tiles names a tile of its own.
constexpr TileAt tile_at(std::uint32_t index, std::uint32_t m_tiles, std::uint32_t n_tiles,
                         std::uint32_t group = kRasterGroup) {
  const std::uint32_t group_tiles = group * n_tiles;
  const std::uint32_t first_m = index / group_tiles * group;
  const std::uint32_t left = m_tiles - first_m;
  const std::uint32_t height = left < group ? left : group;
  const std::uint32_t within = index % group_tiles;
  return {.m = first_m + within % height, .n = within / height};
}

}  // namespace tidemark
