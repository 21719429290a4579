// Which tile each cluster begins with, so that those of one GPC share rows of A.
#include "kernels/cuda/gemm/engine/placement.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

namespace tidemark {
namespace {

/// Pairs of blocks as an H200 of 132 SMs took them: four whose SMs no larger cluster has, a GPC of
/// 8 SMs (number 4), five of 16 and two of 18.
std::vector<std::uint32_t> h200_pairs() {
  std::vector<std::uint32_t> gpcs{0, 1, 2, 3};
  for (int round = 0; round < 4; ++round)
    for (std::uint32_t gpc = 4; gpc < 12; ++gpc) gpcs.push_back(gpc);
  for (int round = 0; round < 4; ++round)
    for (std::uint32_t gpc = 5; gpc < 12; ++gpc) gpcs.push_back(gpc);
  gpcs.push_back(10);
  gpcs.push_back(11);
  return gpcs;
}

std::set<std::uint32_t> rows_of_gpc(const std::vector<std::uint32_t>& gpcs,
                                    const std::vector<std::uint8_t>& first, std::uint32_t gpc,
                                    std::uint32_t group) {
  std::set<std::uint32_t> rows;
  for (std::size_t i = 0; i < gpcs.size(); ++i)
    if (gpcs[i] == gpc) rows.insert(first[i] % group);
  return rows;
}

TEST(FirstTiles, OfAGpcAreOneRowEach) {
  const std::vector<std::uint32_t> gpcs = h200_pairs();
  const std::vector<std::uint8_t> first = first_tiles(gpcs, 8, {.rows = 1, .clusters = 8});
  for (std::uint32_t gpc = 5; gpc < 12; ++gpc)
    EXPECT_EQ(rows_of_gpc(gpcs, first, gpc, 8).size(), 1U) << gpc;
}

TEST(FirstTiles, OfAGpcAreTwoRowsOfFour) {
  const std::vector<std::uint32_t> gpcs = h200_pairs();
  const std::vector<std::uint8_t> first = first_tiles(gpcs, 8, {.rows = 2, .clusters = 8});
  std::set<std::uint32_t> columns;
  for (std::size_t i = 0; i < gpcs.size(); ++i)
    if (gpcs[i] == 5) columns.insert(first[i] / 8);
  EXPECT_EQ(columns.size(), 4U);
  EXPECT_EQ(rows_of_gpc(gpcs, first, 5, 8).size(), 2U);
}

TEST(FirstTiles, BehindTheLastWholeColumnStayWithTheirRow) {
  const std::vector<std::uint32_t> gpcs = h200_pairs();
  const std::vector<std::uint8_t> first = first_tiles(gpcs, 8, {.rows = 1, .clusters = 8});
  EXPECT_EQ(first[64], 64U);  // row 0, as all others of its GPC, the first of nine clusters
  EXPECT_EQ(rows_of_gpc(gpcs, first, 10, 8), std::set<std::uint32_t>{0});
  EXPECT_EQ(rows_of_gpc(gpcs, first, 11, 8), std::set<std::uint32_t>{1});
}

TEST(FirstTiles, AreEveryTileOfTheFirstRoundOnce) {
  const std::vector<std::uint32_t> all = h200_pairs();
  for (std::uint32_t clusters = 1; clusters <= 66; ++clusters)
    for (const std::uint32_t group : {1U, 4U, 5U, 8U, 16U, 100U})
      for (const std::uint32_t rows : {1U, 2U, 4U}) {
        const std::vector<std::uint32_t> gpcs(all.begin(), all.begin() + clusters);
        std::vector<std::uint8_t> first = first_tiles(gpcs, group, {.rows = rows, .clusters = 8});
        std::sort(first.begin(), first.end());
        for (std::uint32_t tile = 0; tile < clusters; ++tile)
          ASSERT_EQ(first[tile], tile) << clusters << ' ' << group << ' ' << rows;
      }
}

TEST(FirstTiles, AreAsTheyComeWhereRowsDoNotDivideTheGroup) {
  const std::vector<std::uint8_t> first = first_tiles({0, 1, 0, 1, 0, 1}, 3, {.rows = 2});
  EXPECT_EQ(first, (std::vector<std::uint8_t>{0, 1, 2, 3, 4, 5}));
}

GpcsOfDevice h200() {
  GpcsOfDevice device{.of_sm = {}, .of_cluster = h200_pairs()};
  for (const std::uint32_t gpc : device.of_cluster) device.of_sm.insert(device.of_sm.end(), 2, gpc);
  return device;
}

TEST(GpcTiles, AreEveryTileOfTheFirstRoundOnce) {
  const GpcTiles tiles = gpc_tiles(h200(), 66, 8, {.rows = 1, .clusters = 8});
  EXPECT_EQ(tiles.gpcs, 12U);
  EXPECT_EQ(tiles.begin[12], 66U);
  EXPECT_EQ(std::set<std::uint8_t>(tiles.tiles.begin(), tiles.tiles.begin() + 66).size(), 66U);
}

TEST(GpcTiles, AreOfEachGpcAsManyAsClustersThatRunThere) {
  const GpcTiles tiles = gpc_tiles(h200(), 66, 8, {.rows = 1, .clusters = 8});
  EXPECT_EQ(tiles.begin[1] - tiles.begin[0], 1);
  EXPECT_EQ(tiles.begin[5] - tiles.begin[4], 4);
  EXPECT_EQ(tiles.begin[12] - tiles.begin[11], 9);
}

TEST(GpcTiles, AreOfTheGpcThatAnSmIsIn) {
  const GpcsOfDevice device = h200();
  const GpcTiles tiles = gpc_tiles(device, 66, 8, {.rows = 1, .clusters = 8});
  const std::uint32_t gpc = tiles.gpc_of_sm[10];
  EXPECT_EQ(gpc, device.of_sm[10]);
  for (std::uint32_t i = tiles.begin[gpc]; i < tiles.begin[gpc + 1]; ++i)
    EXPECT_EQ(tiles.tiles[i] % 8, tiles.tiles[tiles.begin[gpc]] % 8);
}

TEST(GpcTiles, AreOfASmallerGridAsManyAsItHasClusters) {
  const GpcTiles tiles = gpc_tiles(h200(), 44, 8, {.rows = 1, .clusters = 8});
  EXPECT_EQ(tiles.begin[12], 44U);
  EXPECT_EQ(std::set<std::uint8_t>(tiles.tiles.begin(), tiles.tiles.begin() + 44).size(), 44U);
}

TEST(GpcTiles, AreNoneWhereTheyAreTakenAsTheyCome) {
  const GpcsOfDevice one{.of_sm = std::vector<std::uint32_t>(8),
                         .of_cluster = std::vector<std::uint32_t>(4)};
  EXPECT_EQ(gpc_tiles(one, 4, 4, {.rows = 1, .clusters = 8}).gpcs, 0U);
}

TEST(GpcTiles, AreNoneOfADeviceThatIsNotKnown) {
  EXPECT_EQ(gpc_tiles({}, 66, 8, {}).gpcs, 0U);
  EXPECT_EQ(gpc_tiles({.of_sm = {0, 0}, .of_cluster = {0}}, 2, 8, {}).gpcs, 0U);
}

TEST(GpcTiles, AreNoneOfMoreGpcsThanThereIsRoomFor) {
  GpcsOfDevice device;
  for (std::uint32_t gpc = 0; gpc <= kMostGpcs; ++gpc) {
    device.of_sm.push_back(gpc);
    device.of_cluster.push_back(kMostGpcs - gpc);
  }
  EXPECT_EQ(gpc_tiles(device, 4, 4, {}).gpcs, 0U);
}

}  // namespace

}  // namespace tidemark
