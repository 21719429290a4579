// What a tile store on a device without a fault leaves behind, worked out by hand.
#include "kernels/virtual/tile_store.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/error.hpp"
#include "kernels/virtual/tile_store_faults.hpp"

namespace tidemark::kernels {
namespace {

constexpr std::uint64_t kGuard = 1024;

// u8, 64 x 8, rows 80 bytes apart; a box of 32 x 4 to (16, 2).
TileStore inside() {
  return {.map = {.extent = {64, 8}, .stride = {80}, .box = {32, 4}},
          .at = {16, 2},
          .payload = {.seed = 42}};
}

std::vector<std::uint8_t> poisoned(std::size_t size) {
  std::vector<std::uint8_t> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = poison_byte({.seed = 42}, i);
  return bytes;
}

TEST(VirtualTileStore, MovesTheBoxRowByRowAndNothingElse) {
  auto expected = poisoned(kGuard + 80 * 7 + 64 + kGuard);
  for (std::uint64_t y = 0; y < 4; ++y)
    for (std::uint64_t x = 0; x < 32; ++x)
      expected[kGuard + 80 * (2 + y) + 16 + x] = source_byte({.seed = 42}, kGuard + 32 * y + x);
  const RunResult result = run_virtual_tile_store(inside(), kNoFault);
  ASSERT_EQ(result.fault, DeviceFault::none);
  EXPECT_EQ(result.bytes, expected);
}

TEST(VirtualTileStore, DropsWhatLiesBehindTheEnds) {
  TileStore store = inside();
  store.at = {48, 6};  // 16 columns and 2 rows are inside
  auto expected = poisoned(kGuard + 80 * 7 + 64 + kGuard);
  for (std::uint64_t y = 0; y < 2; ++y)
    for (std::uint64_t x = 0; x < 16; ++x)
      expected[kGuard + 80 * (6 + y) + 48 + x] = source_byte({.seed = 42}, kGuard + 32 * y + x);
  EXPECT_EQ(run_virtual_tile_store(store, kNoFault).bytes, expected);
}

TEST(VirtualTileStore, WritesARowToItsNext16Bytes) {
  TileStore store = inside();
  store.map.extent[0] = 37;
  const auto bytes = run_virtual_tile_store(store, kNoFault).bytes;
  EXPECT_EQ(bytes[kGuard + 80 * 2 + 47], source_byte({.seed = 42}, kGuard + 31));
  store.at[0] = 32;  // 5 bytes of the row, and 11 of its padding
  const auto padded = run_virtual_tile_store(store, kNoFault).bytes;
  EXPECT_EQ(padded[kGuard + 80 * 2 + 47], source_byte({.seed = 42}, kGuard + 15));
  EXPECT_EQ(padded[kGuard + 80 * 2 + 48], poison_byte({.seed = 42}, kGuard + 80 * 2 + 48));
}

TEST(VirtualTileStore, TakesSwizzledChunksFromWhereTheAddressSays) {
  TileStore store = inside();
  store.map.swizzle = Swizzle::b32;
  store.map.box[1] = 8;
  store.at[1] = 0;
  const auto bytes = run_virtual_tile_store(store, kNoFault).bytes;
  // Row 4 lies in the second 128 bytes of the tile, where 32-byte swizzle exchanges chunks.
  EXPECT_EQ(bytes[kGuard + 80 * 4 + 16], source_byte({.seed = 42}, kGuard + 128 + 16));
  EXPECT_EQ(bytes[kGuard + 80 * 4 + 32], source_byte({.seed = 42}, kGuard + 128));
}

TEST(VirtualTileStore, ReturnsTheWindowUntouched) {
  const RunResult result = run_virtual_tile_store(inside(), kNoFault);
  ASSERT_EQ(result.surroundings.size(), kGuard + 128 + kGuard);
  for (std::uint64_t i = 0; i < result.surroundings.size(); ++i)
    ASSERT_EQ(result.surroundings[i], source_byte({.seed = 42}, i)) << i;
}

TEST(VirtualTileStore, OverwritesTheTilesOnceTheyAreRead) {
  TileStore store = inside();
  const auto stored = run_virtual_tile_store(store, kNoFault).bytes;
  store.wait = StoreWait::read;
  const RunResult result = run_virtual_tile_store(store, kNoFault);
  EXPECT_EQ(result.bytes, stored);
  const auto flipped = [](std::uint64_t i) {
    return static_cast<std::uint8_t>(~source_byte({.seed = 42}, i));
  };
  EXPECT_EQ(result.surroundings[kGuard - 1], source_byte({.seed = 42}, kGuard - 1));
  EXPECT_EQ(result.surroundings[kGuard], flipped(kGuard));
  EXPECT_EQ(result.surroundings[kGuard + 127], flipped(kGuard + 127));
  EXPECT_EQ(result.surroundings[kGuard + 128], source_byte({.seed = 42}, kGuard + 128));
}

TEST(VirtualTileStore, StoresEachTileToABoxOfItsOwn) {
  TileStore store = inside();
  store.at = {16, 0};
  store.stores = 2;
  const RunResult result = run_virtual_tile_store(store, kNoFault);
  EXPECT_EQ(result.bytes[kGuard + 16], source_byte({.seed = 42}, kGuard));
  EXPECT_EQ(result.bytes[kGuard + 80 * 4 + 16], source_byte({.seed = 42}, kGuard + 128));
}

TEST(VirtualTileStore, TheIssuingThreadReadsWhatItWaitedFor) {
  TileStore store = inside();
  store.at = {16, 0};
  store.stores = 3;  // the third box lies outside
  const StoreLedger ledger = run_virtual_tile_store(store, kNoFault).stored;
  EXPECT_EQ(ledger.read[0][0][5], source_byte({.seed = 42}, kGuard + 5));
  EXPECT_EQ(ledger.read[1][1][15], source_byte({.seed = 42}, kGuard + 128 + 127));
  EXPECT_EQ(ledger.read[2][0], StoreLedger::ProbedChunk{});
  EXPECT_EQ(ledger.read[3][0], StoreLedger::ProbedChunk{});
}

TEST(VirtualTileStore, AnEarlyWaitShowsInWhatTheThreadReads) {
  const StoreLedger ledger = run_virtual_tile_store(inside(), kFaultStoreWaitEarly).stored;
  EXPECT_EQ(ledger.read[0][1][0], poison_byte({.seed = 42}, kGuard + 80 * 5 + 32));
}

TEST(VirtualTileStore, InvertedPayloadInvertsTheWholeAllocation) {
  TileStore store = inside();
  const auto plain = run_virtual_tile_store(store, kNoFault).bytes;
  store.payload.inverted = true;
  const auto inverted = run_virtual_tile_store(store, kNoFault).bytes;
  for (std::size_t i = 0; i < plain.size(); ++i) ASSERT_EQ(plain[i] ^ inverted[i], 0xff) << i;
}

TEST(VirtualTileStore, ANegativeCoordinateIsAStickyFault) {
  TileStore store = inside();
  store.at[1] = -1;
  const RunResult result = run_virtual_tile_store(store, kNoFault);
  EXPECT_EQ(result.fault, DeviceFault::sticky);
  EXPECT_EQ(result.code, 715);
}

TEST(VirtualTileStore, ASourceOff128BytesIsAStickyFault) {
  TileStore store = inside();
  store.source_offset = 64;
  EXPECT_EQ(run_virtual_tile_store(store, kNoFault).code, 716);
}

TEST(VirtualTileStore, FiveStoresAreAnError) {
  TileStore store = inside();
  store.stores = 5;
  EXPECT_THROW((void)run_virtual_tile_store(store, kNoFault), Error);
}

TEST(VirtualTileStore, ManyTilesThatDoNotFitSharedMemoryAreAnError) {
  TileStore store = inside();
  store.map.box = {256, 256};
  store.stores = 4;
  EXPECT_THROW((void)run_virtual_tile_store(store, kNoFault), Error);
}

}  // namespace
}  // namespace tidemark::kernels
