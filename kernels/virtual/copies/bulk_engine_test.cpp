// The engine's promises: every chunk once, credit exact and never ahead of the bytes, no order.
#include "kernels/virtual/copies/bulk_engine.hpp"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

constexpr std::uint32_t kChunks = 1024;  // 16 KiB
constexpr std::uint8_t kPoison = 0xa5;

SharedWindow poisoned() {
  return {.address = 4096, .bytes = std::vector<std::uint8_t>(kChunks * kChunkBytes, kPoison)};
}

// Chunk i carries the byte i mod 128, so no chunk looks like poison.
Chunk numbered(std::uint32_t index) {
  Chunk chunk;
  chunk.address = 4096 + std::int64_t{kChunkBytes} * index;
  chunk.bytes.fill(static_cast<std::uint8_t>(index % 128));
  return chunk;
}

BulkCopy copy_to(SharedWindow& shared, Mbarrier& barrier) {
  return {.chunks = kChunks,
          .chunk = numbered,
          .destination = 4096,
          .shared = &shared,
          .barrier = &barrier};
}

std::size_t poison_left(const SharedWindow& shared) {
  std::size_t left = 0;
  for (const std::uint8_t byte : shared.bytes) left += byte == kPoison ? 1 : 0;
  return left;
}

TEST(BulkEngine, WaitedCopyHasEveryChunkInItsPlace) {
  SharedWindow shared = poisoned();
  Mbarrier barrier = init_mbarrier(1);
  BulkEngine engine(1);
  arrive_expect_tx(barrier, kChunks * kChunkBytes);
  engine.issue(copy_to(shared, barrier));
  ASSERT_TRUE(wait_bounded(engine, barrier, 0, 2000));
  for (std::uint32_t i = 0; i < shared.bytes.size(); ++i)
    ASSERT_EQ(shared.bytes[i], i / kChunkBytes % 128) << i;
}

TEST(BulkEngine, ReaderThatSkipsItsWaitSeesPoisonOnEverySeed) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SharedWindow shared = poisoned();
    Mbarrier barrier = init_mbarrier(1);
    BulkEngine engine(seed);
    arrive_expect_tx(barrier, kChunks * kChunkBytes);
    engine.issue(copy_to(shared, barrier));
    EXPECT_GT(poison_left(shared), 0U) << "seed " << seed;
  }
}

TEST(BulkEngine, ReaderThatTriesOnceAndReadsAnywaySeesPoisonOnMostSeeds) {
  std::size_t poisoned_reads = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SharedWindow shared = poisoned();
    Mbarrier barrier = init_mbarrier(1);
    BulkEngine engine(seed);
    arrive_expect_tx(barrier, kChunks * kChunkBytes);
    engine.issue(copy_to(shared, barrier));
    engine.try_wait(barrier, 0);
    poisoned_reads += poison_left(shared) > 0 ? 1 : 0;
  }
  EXPECT_GT(poisoned_reads, 90U);
}

TEST(BulkEngine, OtherSeedsDeliverInAnotherOrder) {
  SharedWindow one = poisoned(), two = poisoned();
  Mbarrier barrier = init_mbarrier(1);
  BulkEngine first(1), second(2);
  first.issue(copy_to(one, barrier));
  second.issue(copy_to(two, barrier));
  for (int i = 0; i < 8; ++i) {
    first.deliver_one();
    second.deliver_one();
  }
  EXPECT_NE(one.bytes, two.bytes);
}

TEST(BulkEngine, SameSeedDeliversInTheSameOrder) {
  SharedWindow one = poisoned(), two = poisoned();
  Mbarrier barrier = init_mbarrier(1);
  BulkEngine first(5), second(5);
  first.issue(copy_to(one, barrier));
  second.issue(copy_to(two, barrier));
  for (int i = 0; i < 8; ++i) {
    first.deliver_one();
    second.deliver_one();
    EXPECT_EQ(one.bytes, two.bytes);
  }
}

TEST(BulkEngine, CreditsExactlyWhatItDelivers) {
  SharedWindow shared = poisoned();
  Mbarrier barrier = init_mbarrier(1);
  BulkEngine engine(3);
  engine.issue(copy_to(shared, barrier));
  engine.deliver_all();
  EXPECT_EQ(barrier.tx, -static_cast<std::int32_t>(kChunks * kChunkBytes));
  EXPECT_EQ(poison_left(shared), 0U);
}

TEST(BulkEngine, CreditNeverRunsAheadOfTheBytes) {
  SharedWindow shared = poisoned();
  Mbarrier barrier = init_mbarrier(1);
  BulkEngine engine(4);
  engine.issue(copy_to(shared, barrier));
  while (engine.deliver_one()) {
    const std::size_t landed = shared.bytes.size() - poison_left(shared);
    ASSERT_LE(static_cast<std::size_t>(-barrier.tx), landed);
  }
}

TEST(BulkEngine, CreditsInPiecesLargerThanAChunk) {
  SharedWindow shared = poisoned();
  Mbarrier barrier = init_mbarrier(1);
  BulkEngine engine(6);
  engine.issue(copy_to(shared, barrier));
  engine.deliver_one();
  EXPECT_EQ(barrier.tx, 0);
}

TEST(BulkEngine, TwoCopiesInFlightBothArrive) {
  SharedWindow one = poisoned(), two = poisoned();
  Mbarrier barrier = init_mbarrier(1);
  BulkEngine engine(7);
  arrive_expect_tx(barrier, 2 * kChunks * kChunkBytes);
  engine.issue(copy_to(one, barrier));
  engine.issue(copy_to(two, barrier));
  EXPECT_TRUE(wait_bounded(engine, barrier, 0, 4000));
  EXPECT_EQ(poison_left(one) + poison_left(two), 0U);
}

TEST(BulkEngine, WaitForAnOverAnnouncedPhaseEndsByItsBound) {
  SharedWindow shared = poisoned();
  Mbarrier barrier = init_mbarrier(1);
  BulkEngine engine(8);
  arrive_expect_tx(barrier, kChunks * kChunkBytes + 16);
  engine.issue(copy_to(shared, barrier));
  EXPECT_FALSE(wait_bounded(engine, barrier, 0, 2000));
  EXPECT_EQ(poison_left(shared), 0U);
}

TEST(BulkEngine, CountsTheChunksInFlightOfAllCopies) {
  SharedWindow shared = poisoned();
  Mbarrier barrier = init_mbarrier(1);
  BulkEngine engine(1);
  EXPECT_EQ(engine.chunks_in_flight(), 0U);
  engine.issue(copy_to(shared, barrier));
  engine.issue(copy_to(shared, barrier));
  engine.deliver_one();
  EXPECT_EQ(engine.chunks_in_flight(), 2 * kChunks - 1);
}

TEST(BulkEngine, EmptyCopyIsNeverInFlight) {
  BulkEngine engine(9);
  engine.issue({});
  EXPECT_FALSE(engine.deliver_one());
}

TEST(Store, UnmarkedBytesKeepWhatWasThere) {
  SharedWindow shared = poisoned();
  Chunk chunk = numbered(0);
  chunk.bytes.fill(1);
  chunk.written = 0x8001;
  store(shared, 4096, chunk);
  EXPECT_EQ(shared.bytes[0], 1);
  EXPECT_EQ(shared.bytes[1], kPoison);
  EXPECT_EQ(shared.bytes[15], 1);
}

TEST(Store, BytesOutsideTheWindowAreLost) {
  SharedWindow shared{.address = 4096, .bytes = std::vector<std::uint8_t>(16, kPoison)};
  Chunk chunk;
  chunk.bytes.fill(1);
  store(shared, 4096 - 8, chunk);
  EXPECT_EQ(shared.bytes[7], 1);
  EXPECT_EQ(shared.bytes[8], kPoison);
}

}  // namespace
}  // namespace tidemark
