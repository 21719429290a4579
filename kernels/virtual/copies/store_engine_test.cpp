// What waits for groups promise, and what they leave open.
#include "kernels/virtual/copies/store_engine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "kernels/virtual/copies/tile_store_faults.hpp"

namespace tidemark {
namespace {

// Shared memory from address 4096 holds 7; global memory holds 1.
struct Memory {
  SharedWindow shared{.address = 4096, .bytes = std::vector<std::uint8_t>(4096, 7)};
  std::vector<std::uint8_t> global = std::vector<std::uint8_t>(4096, 1);
};

// One store as a group of its own.
void store_group(StoreEngine& engine, Memory& memory, std::vector<StoreChunk> chunks) {
  engine.issue({.shared = &memory.shared, .global = &memory.global}, std::move(chunks));
  engine.commit();
}

// `count` chunks from the start of shared memory to `destination` and on.
std::vector<StoreChunk> chunks(std::uint32_t count, std::int64_t destination) {
  std::vector<StoreChunk> list;
  for (std::int64_t i = 0; i < count; ++i)
    list.push_back({.source = 4096 + 16 * i, .destination = destination + 16 * i});
  return list;
}

std::int64_t count_of(const std::vector<std::uint8_t>& bytes, std::uint8_t value) {
  return std::count(bytes.begin(), bytes.end(), value);
}

TEST(StoreEngine, NothingMovesBeforeSomebodyWaits) {
  Memory memory;
  StoreEngine engine(1, kNoFault);
  store_group(engine, memory, chunks(40, 0));
  EXPECT_EQ(count_of(memory.global, 7), 0);
}

TEST(StoreEngine, ACompleteGroupHasLanded) {
  Memory memory;
  StoreEngine engine(1, kNoFault);
  store_group(engine, memory, chunks(40, 64));
  engine.wait_complete(0);
  EXPECT_EQ(count_of(memory.global, 7), 640);
  EXPECT_EQ(memory.global[63], 1);
  EXPECT_EQ(memory.global[64 + 640], 1);
}

TEST(StoreEngine, PendingGroupsAreTheYoungest) {
  Memory memory;
  StoreEngine engine(2, kNoFault);
  store_group(engine, memory, chunks(40, 0));
  store_group(engine, memory, chunks(120, 1024));
  engine.wait_complete(1);
  EXPECT_EQ(std::count(memory.global.begin(), memory.global.begin() + 640, 7), 640);
  EXPECT_LT(count_of(memory.global, 7), 640 + 1920);  // some of the second are on their way
}

TEST(StoreEngine, ReadSourcesCanBeOverwritten) {
  Memory memory;
  StoreEngine engine(3, kNoFault);
  store_group(engine, memory, chunks(40, 0));
  engine.wait_read(0);
  EXPECT_LT(count_of(memory.global, 7), 640);  // read, and not all landed
  std::fill(memory.shared.bytes.begin(), memory.shared.bytes.end(), std::uint8_t{9});
  engine.finish();
  EXPECT_EQ(count_of(memory.global, 7), 640);
  EXPECT_EQ(count_of(memory.global, 9), 0);
}

TEST(StoreEngine, SourcesThatNobodyWaitedForAreReadAsTheyAreThen) {
  Memory memory;
  StoreEngine engine(4, kNoFault);
  store_group(engine, memory, chunks(40, 0));
  std::fill(memory.shared.bytes.begin(), memory.shared.bytes.end(), std::uint8_t{9});
  engine.finish();
  EXPECT_EQ(count_of(memory.global, 9), 640);
}

TEST(StoreEngine, AnEmptyGroupCountsAsOne) {
  Memory memory;
  StoreEngine engine(5, kNoFault);
  store_group(engine, memory, chunks(40, 0));
  engine.commit();
  engine.wait_complete(1);
  EXPECT_EQ(count_of(memory.global, 7), 640);
}

TEST(StoreEngine, StoresOfOneCommitAreOneGroup) {
  Memory memory;
  StoreEngine engine(13, kNoFault);
  store_group(engine, memory, chunks(4, 0));
  engine.issue({.shared = &memory.shared, .global = &memory.global}, chunks(120, 1024));
  store_group(engine, memory, chunks(4, 3072));
  engine.wait_complete(1);
  EXPECT_EQ(std::count(memory.global.begin(), memory.global.begin() + 64, 7), 64);
  EXPECT_LT(count_of(memory.global, 7), 64 + 1920);  // both of the second are on their way
  engine.wait_complete(0);
  EXPECT_EQ(count_of(memory.global, 7), 64 + 1920 + 64);
}

TEST(StoreEngine, WhatIsNotCommittedIsNotWaitedFor) {
  Memory memory;
  StoreEngine engine(14, kNoFault);
  engine.issue({.shared = &memory.shared, .global = &memory.global}, chunks(40, 0));
  EXPECT_FALSE(engine.has_groups());
  engine.wait_complete(0);
  EXPECT_EQ(count_of(memory.global, 7), 0);
  engine.finish();
  EXPECT_EQ(count_of(memory.global, 7), 640);
}

TEST(StoreEngine, EachStoreHasMemoryOfItsOwn) {
  Memory one, other;
  StoreEngine engine(15, kNoFault);
  store_group(engine, one, chunks(2, 0));
  other.shared.bytes.assign(4096, 9);
  store_group(engine, other, chunks(3, 0));
  engine.wait_complete(0);
  EXPECT_EQ(count_of(one.global, 7), 32);
  EXPECT_EQ(count_of(other.global, 9), 48);
}

TEST(StoreEngine, ChunksOutsideTheWindowReadAsNothingThatIsThere) {
  Memory memory;
  StoreEngine engine(16, kNoFault);
  store_group(engine, memory, {{.source = 8192, .destination = 0}});
  engine.wait_complete(0);
  EXPECT_EQ(count_of(memory.global, 0xee), 16);
}

TEST(StoreEngine, WritesOnlyTheBytesThatAreMarked) {
  Memory memory;
  StoreEngine engine(6, kNoFault);
  store_group(engine, memory, {{.source = 4096, .destination = 32, .written = 0x0fff}});
  engine.wait_complete(0);
  EXPECT_EQ(memory.global[43], 7);
  EXPECT_EQ(memory.global[44], 1);
}

TEST(StoreEngine, WhatLiesOutsideTheAllocationIsLost) {
  Memory memory;
  StoreEngine engine(7, kNoFault);
  store_group(engine, memory,
              {{.source = 4096, .destination = -8}, {.source = 4096, .destination = 4088}});
  engine.finish();
  EXPECT_EQ(count_of(memory.global, 7), 16);
}

TEST(StoreEngine, SeedsChooseTheOrder) {
  const auto landed = [](std::uint64_t seed) {
    Memory memory;
    StoreEngine engine(seed, kNoFault);
    store_group(engine, memory, chunks(40, 0));
    store_group(engine, memory, chunks(40, 1024));
    engine.wait_complete(1);
    return memory.global;
  };
  EXPECT_EQ(landed(8), landed(8));
  EXPECT_NE(landed(8), landed(9));
}

TEST(StoreEngine, ChunksLandInAnOrderThatIsNotTheirs) {
  Memory memory;
  StoreEngine engine(12, kNoFault);
  store_group(engine, memory, chunks(40, 0));
  engine.wait_read(0);
  const std::int64_t landed = count_of(memory.global, 7);
  ASSERT_GT(landed, 0);
  ASSERT_LT(landed, 640);
  EXPECT_LT(std::count(memory.global.begin(), memory.global.begin() + landed, 7), landed);
}

TEST(StoreEngine, AnEarlyReadWaitLeavesTheLastChunkToBeReadLater) {
  Memory memory;
  StoreEngine engine(10, kFaultStoreReadWaitEarly);
  store_group(engine, memory, chunks(40, 0));
  engine.wait_read(0);
  std::fill(memory.shared.bytes.begin(), memory.shared.bytes.end(), std::uint8_t{9});
  engine.wait_complete(0);
  EXPECT_EQ(count_of(memory.global, 7), 624);
  EXPECT_EQ(std::count(memory.global.begin() + 624, memory.global.begin() + 640, 9), 16);
}

TEST(StoreEngine, AnEarlyWaitLeavesTheLastChunkToLandLater) {
  Memory memory;
  StoreEngine engine(11, kFaultStoreWaitEarly);
  store_group(engine, memory, chunks(40, 0));
  engine.wait_complete(0);
  EXPECT_EQ(count_of(memory.global, 7), 624);
  engine.finish();
  EXPECT_EQ(count_of(memory.global, 7), 640);
}

TEST(StoreEngine, AnotherThreadsWaitWaitsForNothing) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Memory memory;
    StoreEngine engine(seed, kNoFault);
    store_group(engine, memory, chunks(120, 0));
    engine.wait_of_other_thread();
    EXPECT_LT(count_of(memory.global, 7), 1920) << seed;
    engine.wait_complete(0);
    EXPECT_EQ(count_of(memory.global, 7), 1920) << seed;
  }
}

}  // namespace
}  // namespace tidemark
