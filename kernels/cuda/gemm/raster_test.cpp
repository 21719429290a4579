// Every tile once, in the order that shares L2.
#include "kernels/cuda/gemm/raster.hpp"

#include <gtest/gtest.h>

#include <set>
#include <utility>

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

}  // namespace
}  // namespace tidemark
