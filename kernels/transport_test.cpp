// How a device gets the parts of a panel that other ranks own, and which of them are late.
#include "kernels/transport.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace tidemark {
namespace {

using Order = std::vector<std::size_t>;

TEST(FetchOrder, BeginsBehindTheOwnShardsAndWraps) {
  const std::vector<Shard> shards = {{0, 0, 4}, {0, 4, 4}, {1, 8, 4}, {1, 12, 4}, {2, 16, 4}};
  EXPECT_EQ(fetch_order(shards, 0), (Order{2, 3, 4}));
  EXPECT_EQ(fetch_order(shards, 1), (Order{4, 0, 1}));
  EXPECT_EQ(fetch_order(shards, 2), (Order{0, 1, 2, 3}));
}

TEST(FetchOrder, LeavesOutWhatHasNoRows) {
  const std::vector<Shard> shards = {{0, 0, 4}, {1, 4, 0}, {2, 4, 1}};
  EXPECT_EQ(fetch_order(shards, 0), (Order{2}));
  EXPECT_EQ(fetch_order(shards, 1), (Order{2, 0}));
}

TEST(FetchOrder, OfARankThatOwnsNothingIsTheListsOwn) {
  const std::vector<Shard> shards = {{0, 0, 4}, {1, 4, 4}};
  EXPECT_EQ(fetch_order(shards, 5), (Order{0, 1}));
  EXPECT_TRUE(fetch_order({}, 5).empty());
}

}  // namespace

namespace {

constexpr AwaitedShard kOwn{.panel = "panel A", .shard = {0, 64, 64}, .index = 1};
constexpr AwaitedShard kOfOne{.panel = "panel A", .shard = {1, 512, 170}, .index = 8};
constexpr AwaitedShard kOfTwo{.panel = "panel B", .shard = {2, 0, 2}, .index = 0};

TEST(LateShards, OneRankIsNamedWithItsFirst) {
  const std::vector<AwaitedShard> awaited = {kOfTwo, {"panel B", {2, 2, 2}, 1}};
  EXPECT_EQ(late_shards(awaited, 0, 20),
            "waits for GPU 2: panel B, shard 0 (rows 0 to 2) not ready within 20 s");
}

TEST(LateShards, OfSeveralRanksAllAreNamed) {
  const std::vector<AwaitedShard> awaited = {kOfOne, kOfTwo};
  EXPECT_EQ(late_shards(awaited, 0, 20),
            "waits for GPUs 1, 2: panel A, shard 8 (rows 512 to 682) and others not ready within "
            "20 s");
}

TEST(LateShards, RankDoesNotNameItself) {
  const std::vector<AwaitedShard> awaited = {kOwn, kOfTwo};
  EXPECT_EQ(late_shards(awaited, 0, 0.5),
            "waits for GPU 2: panel B, shard 0 (rows 0 to 2) not ready within 0.5 s");
}

TEST(LateShards, WhoHasNotReadAnOwnShardIsNotKnown) {
  const std::vector<AwaitedShard> awaited = {kOwn};
  EXPECT_EQ(late_shards(awaited, 0, 20),
            "waits until others have read panel A, shard 1 (rows 64 to 128): not within 20 s");
}

TEST(LateShards, OfManyRanksEightAreNamed) {
  std::vector<AwaitedShard> awaited;
  for (std::uint32_t rank = 1; rank <= 10; ++rank)
    awaited.push_back({.panel = "barrier", .shard = {rank, rank, 1}, .index = rank});
  EXPECT_EQ(late_shards(awaited, 0, 20),
            "waits for GPUs 1, 2, 3, 4, 5, 6, 7, 8 and 2 more: barrier, shard 1 (rows 1 to 2) and "
            "others not ready within 20 s");
}

}  // namespace

}  // namespace tidemark
