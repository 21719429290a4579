// What a round trip on a device without a fault leaves behind, worked out by hand.
#include "kernels/virtual/tile_round_trip.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "kernels/error.hpp"
#include "kernels/virtual/tile_round_trip_faults.hpp"

namespace tidemark::kernels {
namespace {

constexpr std::size_t kGuard = 1024;

// The 8 x 8 matrix of f32 in 4 x 4 tiles; elements are 0, 1, 2, ... in the order of memory.
TileRoundTrip matrix() {
  const TensorMapSpec map{.type = DataType::f32, .extent = {8, 8}, .stride = {32}, .box = {4, 4}};
  const TileWalk walk{.at = {}, .step = {4, 4}, .tiles = {2, 2, 1, 1, 1}};
  return {.from = map,
          .to = map,
          .load = walk,
          .store = walk,
          .work = TileWork::add_index,
          .numbers = SourceNumbers::counting,
          .in_place = true,
          .ctas = 4,
          .payload = {.seed = 5}};
}

float element(const RunResult& result, std::size_t index) {
  float value = 0;
  std::memcpy(&value, &result.bytes[kGuard + 4 * index], 4);
  return value;
}

TEST(VirtualTileRoundTrip, AddsItsIndexInTheTileToEachElement) {
  const RunResult result = run_virtual_tile_round_trip(matrix(), kNoFault);
  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  for (std::size_t y = 0; y < 8; ++y)
    for (std::size_t x = 0; x < 8; ++x)
      ASSERT_EQ(element(result, 8 * y + x), static_cast<float>(8 * y + x + 4 * (y % 4) + x % 4))
          << x << ", " << y;
}

TEST(VirtualTileRoundTrip, InPlaceLeavesTheGuardsOfItsMemory) {
  const TileRoundTrip trip = matrix();
  const RunResult result = run_virtual_tile_round_trip(trip, kNoFault);
  EXPECT_TRUE(result.surroundings.empty());
  for (std::size_t i = 0; i < kGuard; i += 4) {
    std::uint32_t front = 0, back = 0;
    std::memcpy(&front, &result.bytes[i], 4);
    std::memcpy(&back, &result.bytes[kGuard + 256 + i], 4);
    ASSERT_EQ(front, trip_source_word(trip, i / 4)) << i;
    ASSERT_EQ(back, trip_source_word(trip, (kGuard + 256 + i) / 4)) << i;
  }
}

TEST(VirtualTileRoundTrip, HandsBackTheWindowOfEachBlock) {
  const RunResult result = run_virtual_tile_round_trip(matrix(), kNoFault);
  constexpr std::size_t kAllocation = 1024 + 256 + 1024, kWindow = 1024 + 128 + 1024;
  ASSERT_EQ(result.bytes.size(), kAllocation + 4 * kWindow);
  const std::size_t tile = kAllocation + 3 * kWindow + kGuard;  // block 3: the lower right tile
  float first = 0, last = 0;
  std::memcpy(&first, &result.bytes[tile], 4);
  std::memcpy(&last, &result.bytes[tile + 60], 4);
  EXPECT_EQ(first, 36.0F);
  EXPECT_EQ(last, 63.0F + 15);
  EXPECT_EQ(result.bytes[tile + 64], poison_byte({.seed = 5}, kGuard + 64));
}

TEST(VirtualTileRoundTrip, WithoutWorkTheDestinationIsTheSource) {
  TileRoundTrip trip = matrix();
  trip.work = TileWork::identity;
  trip.numbers = SourceNumbers::hash;
  trip.in_place = false;
  const RunResult result = run_virtual_tile_round_trip(trip, kNoFault);
  ASSERT_EQ(result.surroundings.size(), 1024U + 256 + 1024);
  for (std::size_t i = 0; i < 256; ++i)
    ASSERT_EQ(result.bytes[kGuard + i], source_byte({.seed = 5}, kGuard + i)) << i;
  for (std::size_t i = 0; i < kGuard; ++i) {
    ASSERT_EQ(result.bytes[i], poison_byte({.seed = 5}, i)) << i;
    ASSERT_EQ(result.bytes[kGuard + 256 + i], poison_byte({.seed = 5}, kGuard + 256 + i)) << i;
  }
}

TEST(VirtualTileRoundTrip, AStoreStopsWhereTheTensorDoes) {
  TileRoundTrip trip = matrix();
  trip.in_place = false;
  trip.to.extent = {8, 7};
  const RunResult result = run_virtual_tile_round_trip(trip, kNoFault);
  EXPECT_EQ(element(result, 8 * 6 + 7), 8.0F * 6 + 7 + 4 * 2 + 3);
  EXPECT_EQ(result.bytes[kGuard + 32 * 7], poison_byte({.seed = 5}, kGuard + 32 * 7));
}

TEST(VirtualTileRoundTrip, ThreadsPlaceATileAsTheEngineDoes) {
  TileRoundTrip trip = matrix();
  trip.in_place = false;
  trip.work = TileWork::thread_copy;
  trip.numbers = SourceNumbers::hash;
  trip.from.swizzle = trip.to.swizzle = Swizzle::b32;
  trip.from.box = trip.to.box = {8, 5};
  trip.load = trip.store = {.at = {}, .step = {0, 5}, .tiles = {1, 2, 1, 1, 1}};
  trip.ctas = 1;
  trip.stages = 2;
  const RunResult result = run_virtual_tile_round_trip(trip, kNoFault);
  const std::size_t window = 1024 + 2 * 256 + 1024, first = 1024 + 256 + 1024;
  ASSERT_EQ(result.bytes.size(), first + 2 * window);
  EXPECT_EQ(std::memcmp(&result.bytes[first], &result.bytes[first + window], window), 0);
  // Row 4 of the tile starts the second 128 bytes, where chunks change places.
  EXPECT_EQ(result.bytes[first + kGuard + 128 + 16], source_byte({.seed = 5}, kGuard + 32 * 4));
}

TEST(VirtualTileRoundTrip, LedgerOfExactLoads) {
  const BarrierLedger ledger = run_virtual_tile_round_trip(matrix(), kNoFault).ledger;
  EXPECT_FALSE(ledger.complete_before_issue);
  EXPECT_TRUE(ledger.complete);
  EXPECT_FALSE(ledger.next_complete_early);
  EXPECT_EQ(ledger.announced, 256U);
}

TEST(VirtualTileRoundTrip, OneBlockWithARingGivesTheSameAsMany) {
  TileRoundTrip ring = matrix();
  ring.ctas = 1;
  ring.stages = 3;
  ring.stores_per_group = 2;
  const RunResult one = run_virtual_tile_round_trip(ring, kNoFault);
  const RunResult many = run_virtual_tile_round_trip(matrix(), kNoFault);
  EXPECT_EQ(std::memcmp(one.bytes.data(), many.bytes.data(), 1024 + 256 + 1024), 0);
}

TEST(VirtualTileRoundTrip, AStoreBeforeItsTensorIsAnIllegalInstruction) {
  TileRoundTrip trip = matrix();
  trip.store.at = {0, -1};
  const RunResult result = run_virtual_tile_round_trip(trip, kNoFault);
  EXPECT_EQ(result.fault, DeviceFault::sticky);
  EXPECT_EQ(result.code, 715);
}

TEST(VirtualTileRoundTrip, AStoreOff16BytesIsAnIllegalInstruction) {
  TileRoundTrip trip = matrix();
  trip.store.at = {1, 0};
  EXPECT_EQ(run_virtual_tile_round_trip(trip, kNoFault).code, 715);
}

TEST(VirtualTileRoundTrip, ARefusedMapOfTheStoreIsAnAnswer) {
  TileRoundTrip trip = matrix();
  trip.to.stride = {40};
  EXPECT_EQ(run_virtual_tile_round_trip(trip, kNoFault).fault, DeviceFault::encode_refused);
}

TEST(VirtualTileRoundTrip, RefusesMoreStoresAGroupThanStages) {
  TileRoundTrip trip = matrix();
  trip.stores_per_group = 2;
  EXPECT_THROW(run_virtual_tile_round_trip(trip, kNoFault), Error);
}

TEST(VirtualTileRoundTrip, RefusesLoadsAndStoresOfDifferentNumber) {
  TileRoundTrip trip = matrix();
  trip.store.tiles = {2, 1, 1, 1, 1};
  EXPECT_THROW(run_virtual_tile_round_trip(trip, kNoFault), Error);
}

TEST(VirtualTileRoundTrip, AStoreBeforeTheFenceTakesStaleBytes) {
  const RunResult result = run_virtual_tile_round_trip(matrix(), kFaultTripStoreBeforeFence);
  EXPECT_EQ(element(result, 1), 1.0F + 1);  // the first row of a tile is fresh
  EXPECT_EQ(element(result, 8 + 1), 9.0F);  // the second as it was loaded
}

TEST(VirtualTileRoundTrip, FaultsAreHarmlessWhereTheirStepDoesNotOccur) {
  TileRoundTrip plain = matrix();  // one tile, no work, no swizzle, nothing outside, one row
  plain.work = TileWork::identity;
  plain.load = plain.store = {};
  plain.from.extent = plain.to.extent = {8, 9};
  plain.ctas = 1;
  const RunResult right = run_virtual_tile_round_trip(plain, kNoFault);
  for (const Fault fault :
       {kFaultTripTileOffByOne, kFaultTripTileOrder, kFaultTripStageShared,
        kFaultTripWorkReachesGuard, kFaultTripWorkSkipsSwizzle, kFaultTripThreadCopySwizzle,
        kFaultTripThreadCopyPadding, kFaultTripStoreBeforeFence, kFaultTripStageReusedEarly,
        kFaultTripStoreSwizzleIgnored, kFaultTripStorePacked, kFaultTripStoreBeyondEnd,
        kFaultTripStoreShort})
    EXPECT_EQ(run_virtual_tile_round_trip(plain, fault).bytes, right.bytes)
        << static_cast<int>(fault);
}

TEST(TileRoundTripSource, CountsFromTheTensorAndInvertsToADifferentNumber) {
  TileRoundTrip trip = matrix();
  trip.from.type = DataType::u32;
  trip.from.base_offset = 16;
  EXPECT_EQ(trip_source_word(trip, (1024 + 16) / 4 + 7), 7U);
  trip.payload.inverted = true;
  EXPECT_EQ(trip_source_word(trip, (1024 + 16) / 4 + 7), 4095U - 7);
}

TEST(TileRoundTripSource, SmallNumbersAreExactInF32) {
  TileRoundTrip trip = matrix();
  trip.numbers = SourceNumbers::small;
  for (std::uint64_t i = 0; i < 100; ++i) {
    const auto value = std::bit_cast<float>(trip_source_word(trip, i));
    EXPECT_EQ(value, static_cast<float>(static_cast<int>(value)));
    EXPECT_LE(value, 4095.0F);
  }
}

}  // namespace
}  // namespace tidemark::kernels
