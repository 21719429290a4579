// The shares of a product tile it exactly, whatever its shape and the number of ranks.
#include "suite/gemm/grid.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/error.hpp"

namespace tidemark {
namespace {

constexpr GemmShape kShapes[] = {{1, 1, 1},       {1, 300, 7},   {300, 1, 7},     {5, 7, 1},
                                 {127, 131, 137}, {64, 4096, 8}, {4099, 61, 64},  {11, 13, 17},
                                 {512, 512, 512}, {33, 16, 31},  {193, 209, 225}, {16, 15, 3}};

Gemm share(const GemmShape& shape, std::uint32_t rank, std::uint32_t ranks) {
  return distributed_gemm({.m = shape.m, .n = shape.n, .k = shape.k}, rank, ranks, nullptr);
}

bool same(const std::vector<Shard>& left, const std::vector<Shard>& right) {
  if (left.size() != right.size()) return false;
  for (std::size_t i = 0; i < left.size(); ++i)
    if (left[i].owner != right[i].owner || left[i].first_row != right[i].first_row ||
        left[i].rows != right[i].rows)
      return false;
  return true;
}

/// Rows that the shards cover when each begins where the one before ended; ~0 where one does not.
std::uint64_t tiled(const std::vector<Shard>& shards) {
  std::uint64_t next = 0;
  for (const Shard& shard : shards) {
    if (shard.first_row != next) return ~std::uint64_t{0};
    next += shard.rows;
  }
  return next;
}

/// Pieces of `rank`, of which each begins where the one before ended.
std::size_t pieces_of(const std::vector<Shard>& shards, std::uint32_t rank) {
  return static_cast<std::size_t>(std::count_if(
      shards.begin(), shards.end(), [rank](const Shard& shard) { return shard.owner == rank; }));
}

TEST(Grid, SquareProductGetsTheSquarestGridWithMoreColumns) {
  EXPECT_EQ(plan_grid(8, 8192, 8192).rows, 2U);
  EXPECT_EQ(plan_grid(8, 8192, 8192).cols, 4U);
  EXPECT_EQ(plan_grid(4, 8192, 8192).rows, 2U);
  EXPECT_EQ(plan_grid(2, 8192, 8192).cols, 2U);
}

TEST(Grid, FlatProductIsCutAlongItsLongSide) {
  EXPECT_EQ(plan_grid(8, 1, 4096).cols, 8U);
  EXPECT_EQ(plan_grid(8, 4096, 1).rows, 8U);
}

TEST(Grid, NoDivisorWouldReceiveFewerBytes) {
  for (std::uint32_t ranks = 1; ranks <= 24; ++ranks)
    for (const GemmShape& shape : kShapes) {
      const Grid best = plan_grid(ranks, shape.m, shape.n);
      ASSERT_EQ(best.rows * best.cols, ranks);
      for (std::uint32_t rows = 1; rows <= ranks; ++rows)
        if (ranks % rows == 0) {
          EXPECT_LE(bytes_received(best, shape.m, shape.n, shape.k),
                    bytes_received({rows, ranks / rows}, shape.m, shape.n, shape.k));
        }
    }
}

TEST(Grid, BytesReceivedAreWhatTheShardsSay) {
  for (const GemmShape& shape : kShapes) {
    std::uint64_t received = 0;
    for (std::uint32_t rank = 0; rank < 6; ++rank) {
      const Gemm gemm = share(shape, rank, 6);
      for (const Shard& shard : gemm.a_shards) received += shard.owner == rank ? 0 : shard.rows;
      for (const Shard& shard : gemm.b_shards) received += shard.owner == rank ? 0 : shard.rows;
    }
    EXPECT_EQ(received * shape.k * 2,
              bytes_received(plan_grid(6, shape.m, shape.n), shape.m, shape.n, shape.k));
  }
}

TEST(Grid, BlocksTileC) {
  for (std::uint32_t ranks = 1; ranks <= 12; ++ranks)
    for (const GemmShape& shape : kShapes) {
      std::vector<int> covered(shape.m * shape.n, 0);
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const Gemm gemm = share(shape, rank, ranks);
        for (std::uint64_t i = 0; i < gemm.rows.count; ++i)
          for (std::uint64_t j = 0; j < gemm.cols.count; ++j)
            ++covered.at((gemm.rows.first + i) * shape.n + gemm.cols.first + j);
      }
      for (const int times : covered) ASSERT_EQ(times, 1) << shape.m << "x" << shape.n;
    }
}

TEST(Grid, ShardsTileThePanelAndEachMemberOwnsSome) {
  for (std::uint32_t ranks = 1; ranks <= 12; ++ranks)
    for (const GemmShape& shape : kShapes)
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const Gemm gemm = share(shape, rank, ranks);
        EXPECT_EQ(tiled(gemm.a_shards), gemm.rows.count);
        EXPECT_EQ(tiled(gemm.b_shards), gemm.cols.count);
        EXPECT_GE(pieces_of(gemm.a_shards, rank), 1U);
        EXPECT_GE(pieces_of(gemm.b_shards, rank), 1U);
      }
}

TEST(Grid, PeersHoldEqualShardListsOfOnePanel) {
  for (std::uint32_t ranks = 1; ranks <= 12; ++ranks)
    for (const GemmShape& shape : kShapes)
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const Gemm gemm = share(shape, rank, ranks);
        for (const Shard& shard : gemm.a_shards) {
          const Gemm peer = share(shape, shard.owner, ranks);
          EXPECT_TRUE(same(peer.a_shards, gemm.a_shards));
          EXPECT_EQ(peer.rows.first, gemm.rows.first);
        }
        for (const Shard& shard : gemm.b_shards) {
          const Gemm peer = share(shape, shard.owner, ranks);
          EXPECT_TRUE(same(peer.b_shards, gemm.b_shards));
          EXPECT_EQ(peer.cols.first, gemm.cols.first);
        }
      }
}

TEST(Grid, PartOfAnOwnerTravelsInPieces) {
  Gemm whole{.m = 8192, .n = 8192, .k = 8192};
  whole.route = PanelRoute::copy_engine;
  const Gemm gemm = distributed_gemm(whole, 1, 2, nullptr);
  EXPECT_EQ(pieces_of(gemm.a_shards, 0), 4U);  // of 16 MiB: 4096 rows of 16 KiB
  EXPECT_EQ(pieces_of(gemm.a_shards, 1), 4U);
  EXPECT_EQ(gemm.a_shards[0].rows, 1024U);
  EXPECT_EQ(gemm.b_shards.size(), 1U);  // nobody else needs it
}

TEST(Grid, SmallPartTravelsInTwoPiecesAndALargeOneInSixteen) {
  const Chunking chunking = chunking_of(PanelRoute::copy_engine);
  EXPECT_EQ(chunks_of(0, 16, chunking), 1U);
  EXPECT_EQ(chunks_of(1, 16, chunking), 1U);
  EXPECT_EQ(chunks_of(2, 16, chunking), 2U);
  EXPECT_EQ(chunks_of(32768, 65536, chunking), 16U);
  EXPECT_EQ(chunks_of(32768, 65536, {.bytes = chunking.bytes, .most = 3}), 3U);
}

TEST(Grid, PanelOfManyOwnersHasNoMorePiecesThanTheEngineCounts) {
  const Gemm gemm = share({1U << 20, 16, 8192}, 1000, 1024);
  EXPECT_EQ(gemm.b_shards.size(), 1024U);
}

TEST(Grid, EverybodyHasOneRowARank) {
  const Gemm gemm = share({64, 64, 64}, 2, 5);
  ASSERT_EQ(gemm.everybody.size(), 5U);
  EXPECT_EQ(tiled(gemm.everybody), 5U);
  for (std::uint32_t i = 0; i < 5; ++i) EXPECT_EQ(gemm.everybody[i].owner, i);
}

TEST(Grid, PartsAreWholeGroupsOfSixteenWhereThereAreEnough) {
  EXPECT_EQ(part_of(100, 3, 0).count, 48U);
  EXPECT_EQ(part_of(100, 3, 1).count, 32U);
  EXPECT_EQ(part_of(100, 3, 2).count, 20U);
  EXPECT_EQ(part_of(40, 3, 0).count, 14U);
  EXPECT_EQ(part_of(2, 3, 2).count, 0U);
}

TEST(Grid, RankThatDoesNotExistIsAnError) {
  EXPECT_THROW(share({8, 8, 8}, 4, 4), Error);
  EXPECT_THROW(plan_grid(0, 8, 8), Error);
}

}  // namespace
}  // namespace tidemark
