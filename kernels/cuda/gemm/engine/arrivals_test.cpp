// A product that begins before its panels are there takes each tile once, its own first, and knows
// what each waits for.
#include "kernels/cuda/gemm/engine/arrivals.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "kernels/error.hpp"

namespace tidemark {
namespace {

// Two ranks own two shards of A each; all of B is rank 1's.
const std::vector<Shard> kA = {{0, 0, 256}, {0, 256, 256}, {1, 512, 256}, {1, 768, 200}};
const std::vector<Shard> kB = {{1, 0, 700}};

std::vector<ArrivingTile> order_of(std::uint32_t rank, const std::vector<Shard>& b = kB) {
  return arrival_order({.shards = kA, .tile_rows = 256, .tiles = 4},
                       {.shards = b, .tile_rows = 256, .tiles = 3}, rank, 2, true);
}

std::vector<std::uint32_t> rows_of(const std::vector<ArrivingTile>& order) {
  std::vector<std::uint32_t> rows;
  for (const ArrivingTile& tile : order) rows.push_back(tile.m);
  return rows;
}

TEST(ArrivalOrder, HasEveryTileOnce) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
  for (const ArrivingTile& tile : order_of(1)) seen.emplace(tile.m, tile.n);
  EXPECT_EQ(seen.size(), 12U);
}

TEST(ArrivalOrder, BeginsWithOwnRowsAndFollowsTheFetchedOnes) {
  EXPECT_EQ(rows_of(order_of(1)), (std::vector<std::uint32_t>{2, 3, 2, 3, 2, 3, 0, 0, 0, 1, 1, 1}));
}

TEST(ArrivalOrder, NamesTheShardsOfEachTile) {
  for (const ArrivingTile& tile : order_of(1)) {
    EXPECT_EQ(tile.a_first, tile.m);
    EXPECT_EQ(tile.a_end, tile.m + 1);
    EXPECT_EQ(tile.b_first, 0U);
    EXPECT_EQ(tile.b_end, 1U);
  }
}

TEST(ArrivalOrder, TileAcrossShardsWaitsForTheLastOfThem) {
  const std::vector<Shard> b = {{1, 0, 100}, {0, 100, 300}, {2, 400, 300}};
  // Rank 0 fetches the last 300 columns first, then the first 100.
  const std::vector<ArrivingTile> order = order_of(0, b);
  std::vector<std::uint32_t> columns;
  for (const ArrivingTile& tile : order)
    if (tile.m == 0) columns.push_back(tile.n);
  EXPECT_EQ(columns, (std::vector<std::uint32_t>{1, 2, 0}));
  for (const ArrivingTile& tile : order)
    if (tile.n == 1) {
      EXPECT_EQ(tile.b_first, 1U);
      EXPECT_EQ(tile.b_end, 3U);
    }
}

TEST(ArrivalOrder, BothPanelsAreFetchedAtOnce) {
  const std::vector<Shard> b = {{0, 0, 512}, {1, 512, 256}, {1, 768, 256}};
  std::vector<std::pair<std::uint32_t, std::uint32_t>> first;
  for (const ArrivingTile& tile :
       arrival_order({.shards = kA, .tile_rows = 256, .tiles = 4},
                     {.shards = b, .tile_rows = 256, .tiles = 4}, 0, 8, true))
    first.emplace_back(tile.m, tile.n);
  first.resize(9);
  EXPECT_EQ(first, (std::vector<std::pair<std::uint32_t, std::uint32_t>>{
                       {0, 0},
                       {1, 0},
                       {0, 1},
                       {1, 1},  // own
                       {2, 0},
                       {2, 1},
                       {0, 2},
                       {1, 2},
                       {2, 2}}));  // one shard of each is there
}

TEST(ArrivalOrder, OnePanelIsFetchedBehindTheOther) {
  const std::vector<Shard> b = {{0, 0, 512}, {1, 512, 256}, {1, 768, 256}};
  const std::vector<ArrivingTile> order =
      arrival_order({.shards = kA, .tile_rows = 256, .tiles = 4},
                    {.shards = b, .tile_rows = 256, .tiles = 4}, 0, 8, false);
  // Own ones, then all that A alone completes, then a column of B at a time.
  EXPECT_EQ(rows_of(order),
            (std::vector<std::uint32_t>{0, 1, 0, 1, 2, 2, 3, 3, 0, 1, 2, 3, 0, 1, 2, 3}));
}

TEST(ArrivalOrder, TileBeyondThePanelWaitsForNothing) {
  const std::vector<ArrivingTile> order =
      arrival_order({.shards = kA, .tile_rows = 512, .tiles = 3},
                    {.shards = kB, .tile_rows = 256, .tiles = 3}, 0, 8, true);
  for (const ArrivingTile& tile : order)
    if (tile.m == 2) {
      EXPECT_EQ(tile.a_first, tile.a_end);
    }
}

TEST(ArrivalOrder, ShardsOutOfOrderAreAnError) {
  const std::vector<Shard> turned = {{0, 256, 256}, {1, 0, 256}};
  EXPECT_THROW(arrival_order({.shards = turned, .tile_rows = 256, .tiles = 2},
                             {.shards = kB, .tile_rows = 256, .tiles = 3}, 0, 8, true),
               Error);
}

}  // namespace
}  // namespace tidemark
