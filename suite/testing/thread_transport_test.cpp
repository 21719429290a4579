// The transport of the distributed tests must itself keep what Transport promises.
#include "suite/testing/thread_transport.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

namespace tidemark {
namespace {

/// Two ranks with three shards each of one byte, rank 0's 1 to 3 and rank 1's 4 to 6.
struct TwoRanks {
  explicit TwoRanks(std::optional<std::uint64_t> seed = {})
      : transports{ThreadTransport(exchange, 0, seed), ThreadTransport(exchange, 1, seed)} {}

  void start(std::uint32_t rank, std::uint32_t epoch) {
    for (std::uint8_t i = 0; i < 6; ++i)
      panels[rank][i] = std::byte{static_cast<std::uint8_t>(i / 3 == rank ? i + 1 : 0xff)};
    transports[rank].start(
        {.id = 4,
         .base = panels[rank].data(),
         .row_bytes = 1,
         .shards = {{0, 0, 1}, {0, 1, 1}, {0, 2, 1}, {1, 3, 1}, {1, 4, 1}, {1, 5, 1}},
         .arrived = words[rank].data(),
         .epoch = epoch});
  }

  Exchange exchange;
  std::array<ThreadTransport, 2> transports;
  std::array<std::array<std::byte, 6>, 2> panels{};
  std::array<std::array<std::uint32_t, 6>, 2> words{};
};

TEST(ThreadTransport, AShardIsReadyWithItsBytesAndItsWordAndNoSooner) {
  TwoRanks ranks;
  ranks.start(0, 7);
  EXPECT_FALSE(ranks.transports[0].ready(4, 3));
  ranks.start(1, 7);
  EXPECT_EQ(ranks.words[0][3], 0U);
  EXPECT_TRUE(ranks.transports[0].ready(4, 3));
  EXPECT_EQ(ranks.panels[0][3], std::byte{4});
  EXPECT_EQ(ranks.words[0], (std::array<std::uint32_t, 6>{0, 0, 0, 7, 0, 0}));
}

TEST(ThreadTransport, EachOwnShardIsReadyOnceTheOtherRankHasTakenIt) {
  TwoRanks ranks;
  ranks.start(0, 1);
  ranks.start(1, 1);
  EXPECT_TRUE(ranks.transports[1].ready(4, 2));
  EXPECT_FALSE(ranks.transports[0].ready(4, 1));
  EXPECT_TRUE(ranks.transports[0].ready(4, 2));
  EXPECT_EQ(ranks.words[0][2], 0U);  // the reader's own
}

TEST(ThreadTransport, ASeedDrawsTheOrderInWhichShardsCome) {
  std::set<std::vector<std::size_t>> orders;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    TwoRanks ranks(seed);
    ranks.start(0, 1);
    ranks.start(1, 1);
    std::vector<std::size_t> order;
    std::set<std::size_t> left = {3, 4, 5};
    for (int asked = 0; asked < 1000 && !left.empty(); ++asked) {
      ranks.transports[0].ready(4, 3);
      std::erase_if(left, [&](std::size_t shard) {
        if (ranks.words[0][shard] != 1) return false;
        order.push_back(shard);
        return true;
      });
    }
    EXPECT_TRUE(left.empty()) << seed;
    orders.insert(order);
  }
  EXPECT_GE(orders.size(), 4U);
}

TEST(ThreadTransport, NothingMovesOnceARankHasGivenUp) {
  TwoRanks ranks;
  ranks.start(0, 1);
  ranks.start(1, 1);
  ranks.transports[1].abort();
  EXPECT_FALSE(ranks.transports[0].ready(4, 3));
  EXPECT_EQ(ranks.panels[0][3], std::byte{0xff});
  EXPECT_THROW(ranks.start(0, 2), Error);
}

}  // namespace
}  // namespace tidemark
