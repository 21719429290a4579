// Every tile once, in the order that shares L2; and every byte of a staging box.
#include "kernels/cuda/gemm/c_tiles.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <utility>

#include "kernels/cuda/gemm/ladder/rung.hpp"

namespace tidemark {
namespace {

TEST(GemmRaster, TakesEveryTileOnce) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
  for (std::uint32_t i = 0; i < 21 * 5; ++i) {
    const TileAt tile = tile_at(i, 21, 5);
    EXPECT_LT(tile.m, 21U) << i;
    EXPECT_LT(tile.n, 5U) << i;
    seen.emplace(tile.m, tile.n);
  }
  EXPECT_EQ(seen.size(), 21U * 5U);
}

TEST(GemmRaster, WalksEightTilesDownBeforeTheNextColumn) {
  EXPECT_EQ(tile_at(7, 64, 32).m, 7U);
  EXPECT_EQ(tile_at(7, 64, 32).n, 0U);
  EXPECT_EQ(tile_at(8, 64, 32).m, 0U);
  EXPECT_EQ(tile_at(8, 64, 32).n, 1U);
  EXPECT_EQ(tile_at(256, 64, 32).m, 8U);
}

TEST(GemmRaster, TakesEveryTileOnceInGroupsOfAnyHeight) {
  for (const std::uint32_t group : {1U, 4U, 16U, 64U}) {
    std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
    for (std::uint32_t i = 0; i < 21 * 5; ++i) {
      const TileAt tile = tile_at(i, 21, 5, group);
      EXPECT_LT(tile.m, 21U) << group;
      seen.emplace(tile.m, tile.n);
    }
    EXPECT_EQ(seen.size(), 21U * 5U) << group;
  }
}

// The staging boxes of the ladder's last rung, without a GPU: every byte has one writer, and lies
// where a SWIZZLE_128B tensor map will look for it.

// PTX ISA, 128-byte swizzle: bits 4 to 6 of the address are XORed with bits 7 to 9.
std::uint32_t swizzled(std::uint32_t offset) { return offset ^ (offset >> 7 & 7U) << 4; }

// stmatrix.x4: lane l holds columns 2 (l % 4) and the next of row l / 4 of each of four matrices,
// and matrix i is stored where lanes 8 i to 8 i + 7 say.
TEST(Staging, MatricesOfBf16CoverTheBoxOnceAndInOrder) {
  std::array<int, kStagingBytes> writers{};
  for (std::uint32_t chunk = 0; chunk < 8; chunk += 2)
    for (std::uint32_t matrix = 0; matrix < 4; ++matrix)
      for (std::uint32_t row = 0; row < 8; ++row) {
        const std::uint32_t at = staged_matrix_row(8 * matrix + row, chunk);
        // In the order in which registers are given: upper, lower, upper of the next, lower of it.
        const std::uint32_t box_row = row + (matrix == 1 || matrix == 3 ? 8 : 0);
        const std::uint32_t column = 16 * (chunk + (matrix >= 2 ? 1 : 0));
        ASSERT_EQ(at, swizzled(128 * box_row + column));
        for (std::uint32_t byte = 0; byte < 16; ++byte) ++writers.at(at + byte);
      }
  for (const int count : writers) ASSERT_EQ(count, 1);
}

// wgmma: lane l holds columns 8 j + 2 (l % 4) and the next of row l / 4, and of the row 8 below.
TEST(Staging, PairsOfFp32CoverTheBoxOnceAndInOrder) {
  std::array<int, kStagingBytes> writers{};
  for (std::uint32_t group = 0; group < 4; ++group)
    for (std::uint32_t lane = 0; lane < 32; ++lane)
      for (std::uint32_t lower = 0; lower < 2; ++lower) {
        const std::uint32_t at = staged_pair(lane, group) + lower * kEightRowsOn;
        ASSERT_EQ(at, swizzled(128 * (lane / 4 + 8 * lower) + 4 * (8 * group + 2 * (lane % 4))));
        for (std::uint32_t byte = 0; byte < 8; ++byte) ++writers.at(at + byte);
      }
  for (const int count : writers) ASSERT_EQ(count, 1);
}

TEST(Staging, RowsOfAMatrixLieInDifferentBanks) {
  for (std::uint32_t chunk = 0; chunk < 8; ++chunk) {
    std::array<int, 8> groups{};
    for (std::uint32_t lane = 0; lane < 8; ++lane)
      ++groups.at(staged_matrix_row(lane, chunk) / 16 % 8);
    for (const int count : groups) EXPECT_EQ(count, 1);
  }
}

// What a warp carries to C itself: the words of a row in the order of its columns.
TEST(Staging, WordsOfARowAreTheColumnsThatStmatrixPutThere) {
  for (std::uint32_t row = 0; row < 16; ++row)
    for (std::uint32_t column = 0; column < 64; column += 2) {
      // stmatrix: row r of a matrix goes to the address of lane r of its eight; a pair of columns
      // is four bytes of it.
      const std::uint32_t chunk = column / 8;
      const std::uint32_t lane = row % 8 + row / 8 * 8 + chunk % 2 * 16;
      EXPECT_EQ(staged_word(row, column / 2),
                staged_matrix_row(lane, chunk / 2 * 2) + column % 8 * 2)
          << row << ", " << column;
    }
}

TEST(Staging, WordsOfARowAreTheColumnsOfFp32) {
  for (std::uint32_t row = 0; row < 8; ++row)
    for (std::uint32_t column = 0; column < 32; ++column) {
      const std::uint32_t lane = row * 4 + column % 8 / 2;
      const std::uint32_t at = staged_pair(lane, column / 8) + column % 2 * 4;
      EXPECT_EQ(staged_word(row, column), at) << row << ", " << column;
      EXPECT_EQ(staged_word(row + 8, column), at + kEightRowsOn) << row + 8 << ", " << column;
    }
}

// 1024 tiles take 16 rounds on 66 pairs and on 64: four SMs less, and no round more.
TEST(EvenBlocks, NoMoreThanTheRoundsCallFor) { EXPECT_EQ(even_blocks(1024, 66), 64U); }

TEST(EvenBlocks, OneMoreTileIsOneMoreRound) { EXPECT_EQ(even_blocks(1057, 66), 63U); }

TEST(EvenBlocks, FewTilesTakeABlockEach) { EXPECT_EQ(even_blocks(5, 66), 5U); }

TEST(EvenBlocks, ExactRoundsTakeAll) { EXPECT_EQ(even_blocks(132, 66), 66U); }

}  // namespace

}  // namespace tidemark
