#include "kernels/transport.hpp"

#include <gtest/gtest.h>

namespace tidemark::kernels {
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
}  // namespace tidemark::kernels
