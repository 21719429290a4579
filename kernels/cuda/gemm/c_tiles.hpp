// Tiles of C: the order in which they are taken, and how they are staged for the store.
#pragma once

#include <cstdint>

namespace tidemark {

// The order, so that tiles in work at one time share rows of A and B in L2.

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

// Where an accumulator goes in the staging box that TMA carries to C: plain arithmetic, so that a
// test without a GPU can hold it against what the two instructions are documented to do.

/// A staging box is 16 rows of 128 bytes, 16-byte chunks swizzled as a SWIZZLE_128B map expects:
/// chunk c of row r lies where chunk c XOR r % 8 would.
inline constexpr std::uint32_t kStagingRows = 16;
inline constexpr std::uint32_t kStagingRowBytes = 128;
inline constexpr std::uint32_t kStagingBytes = kStagingRows * kStagingRowBytes;

/// Offset in the box of 16-byte chunk `chunk` of `row`.
constexpr std::uint32_t staged_chunk(std::uint32_t row, std::uint32_t chunk) {
  return row * kStagingRowBytes + (chunk ^ row % 8) * 16;
}

/// Offset in the box of 4-byte word `word` of `row`.
constexpr std::uint32_t staged_word(std::uint32_t row, std::uint32_t word) {
  return staged_chunk(row, word / 4) + word % 4 * 4;
}

/// bf16: the address that `lane` gives stmatrix.x4 for two neighbouring groups of eight columns, of
/// which `chunk` is the first: the rows of four 8 x 8 matrices, in the order upper rows, lower
/// rows, then both of the next group.
constexpr std::uint32_t staged_matrix_row(std::uint32_t lane, std::uint32_t chunk) {
  const std::uint32_t matrix = lane / 8;
  return staged_chunk(lane % 8 + matrix % 2 * 8, chunk + matrix / 2);
}

/// fp32: where `lane` puts its two neighbours of group `group` of eight columns, in the upper eight
/// rows; those of the lower rows lie eight rows further.
constexpr std::uint32_t staged_pair(std::uint32_t lane, std::uint32_t group) {
  const std::uint32_t pair = lane % 4;
  return staged_chunk(lane / 4, 2 * group + pair / 2) + pair % 2 * 8;
}
inline constexpr std::uint32_t kEightRowsOn = 8 * kStagingRowBytes;

}  // namespace tidemark
