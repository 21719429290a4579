// What the program of a tile store, with its checks, leaves on the virtual device, worked out by
// hand.
#include "kernels/ops/tile_store.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "kernels/error.hpp"
#include "kernels/ops/program/checks.hpp"
#include "kernels/virtual/copies/tile_store_faults.hpp"
#include "kernels/virtual/program/program.hpp"

namespace tidemark {
namespace {

constexpr std::uint64_t kGuard = 1024;

// u8, 64 x 8, rows 80 bytes apart; a box of 32 x 4 to (16, 2).
TileStore inside() {
  return {.map = {.extent = {64, 8}, .stride = {80}, .box = {32, 4}},
          .at = {16, 2},
          .payload = {.seed = 42}};
}

RunResult run(const TileStore& store, Fault fault = kNoFault) {
  return run_virtual_program(with_checks(program_of(store)), fault);
}

using Bytes = std::vector<std::uint8_t>;
using Traces = std::vector<std::uint64_t>;

// Traces of the steps of one verb that thread `thread` took, in their order.
Traces traces(const TileStore& store, const RunResult& result, Verb verb,
              std::uint16_t thread = 0) {
  const Program program = with_checks(program_of(store));
  Traces of_verb;
  for (std::size_t i = 0; i < program.steps.size(); ++i)
    if (program.steps[i].verb == verb && program.steps[i].thread == thread)
      of_verb.push_back(result.trace[i]);
  return of_verb;
}

// Bytes `offset` to `offset` + 7 of the window as it is filled.
std::uint64_t source_of(std::uint64_t offset) { return source_word({.seed = 42}, offset / 8); }

// The same bytes of the destination before anything is stored.
std::uint64_t poison_of(std::uint64_t offset) {
  Bytes bytes(8);
  for (std::size_t i = 0; i < 8; ++i) bytes[i] = poison_byte({.seed = 42}, offset + i);
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data(), 8);
  return word;
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
  const RunResult result = run(inside());
  ASSERT_EQ(result.fault, DeviceFault::none);
  EXPECT_EQ(result.surroundings, expected);
}

TEST(VirtualTileStore, DropsWhatLiesBehindTheEnds) {
  TileStore store = inside();
  store.at = {48, 6};  // 16 columns and 2 rows are inside
  auto expected = poisoned(kGuard + 80 * 7 + 64 + kGuard);
  for (std::uint64_t y = 0; y < 2; ++y)
    for (std::uint64_t x = 0; x < 16; ++x)
      expected[kGuard + 80 * (6 + y) + 48 + x] = source_byte({.seed = 42}, kGuard + 32 * y + x);
  EXPECT_EQ(run(store).surroundings, expected);
}

TEST(VirtualTileStore, WritesARowToItsNext16Bytes) {
  TileStore store = inside();
  store.map.extent[0] = 37;
  const auto bytes = run(store).surroundings;
  EXPECT_EQ(bytes[kGuard + 80 * 2 + 47], source_byte({.seed = 42}, kGuard + 31));
  store.at[0] = 32;  // 5 bytes of the row, and 11 of its padding
  const auto padded = run(store).surroundings;
  EXPECT_EQ(padded[kGuard + 80 * 2 + 47], source_byte({.seed = 42}, kGuard + 15));
  EXPECT_EQ(padded[kGuard + 80 * 2 + 48], poison_byte({.seed = 42}, kGuard + 80 * 2 + 48));
}

TEST(VirtualTileStore, TakesSwizzledChunksFromWhereTheAddressSays) {
  TileStore store = inside();
  store.map.swizzle = Swizzle::b32;
  store.map.box[1] = 8;
  store.at[1] = 0;
  const auto bytes = run(store).surroundings;
  // Row 4 lies in the second 128 bytes of the tile, where 32-byte swizzle exchanges chunks.
  EXPECT_EQ(bytes[kGuard + 80 * 4 + 16], source_byte({.seed = 42}, kGuard + 128 + 16));
  EXPECT_EQ(bytes[kGuard + 80 * 4 + 32], source_byte({.seed = 42}, kGuard + 128));
}

TEST(VirtualTileStore, ReturnsTheWindowUntouched) {
  const RunResult result = run(inside());
  ASSERT_EQ(result.bytes.size(), kGuard + 128 + kGuard);
  for (std::uint64_t i = 0; i < result.bytes.size(); ++i)
    ASSERT_EQ(result.bytes[i], source_byte({.seed = 42}, i)) << i;
}

TEST(VirtualTileStore, OverwritesTheTilesOnceTheyAreRead) {
  TileStore store = inside();
  const Bytes stored = run(store).surroundings;
  store.wait = StoreWait::read;
  const RunResult result = run(store);
  EXPECT_EQ(result.surroundings, stored);
  const auto flipped = [](std::uint64_t i) {
    return static_cast<std::uint8_t>(~source_byte({.seed = 42}, i));
  };
  EXPECT_EQ(result.bytes[kGuard - 1], source_byte({.seed = 42}, kGuard - 1));
  EXPECT_EQ(result.bytes[kGuard], flipped(kGuard));
  EXPECT_EQ(result.bytes[kGuard + 127], flipped(kGuard + 127));
  EXPECT_EQ(result.bytes[kGuard + 128], source_byte({.seed = 42}, kGuard + 128));
}

TEST(VirtualTileStore, StoresEachTileToABoxOfItsOwn) {
  TileStore store = inside();
  store.at = {16, 0};
  store.stores = 2;
  const RunResult result = run(store);
  EXPECT_EQ(result.surroundings[kGuard + 16], source_byte({.seed = 42}, kGuard));
  EXPECT_EQ(result.surroundings[kGuard + 80 * 4 + 16], source_byte({.seed = 42}, kGuard + 128));
}

TEST(VirtualTileStore, TheIssuingThreadReadsWhatItWaitedFor) {
  TileStore store = inside();
  store.at = {16, 0};
  store.stores = 3;  // the third box lies outside
  EXPECT_EQ(traces(store, run(store), Verb::wait_group),
            (Traces{source_of(kGuard), source_of(kGuard + 120), source_of(kGuard + 128),
                    source_of(kGuard + 128 + 120), 0, 0, 0}));
}

TEST(VirtualTileStore, AnEarlyWaitShowsInWhatTheThreadReads) {
  const RunResult result = run(inside(), kFaultStoreWaitEarly);
  EXPECT_EQ(traces(inside(), result, Verb::wait_group),
            (Traces{source_of(kGuard), poison_of(kGuard + 80 * 5 + 40), 0}));
}

TEST(VirtualTileStore, AThreadWithoutGroupsSeesAnyPartOfTheStores) {
  TileStore store = inside();
  store.bystander = true;
  std::size_t landed = 0;
  for (store.payload.seed = 0; store.payload.seed < 200; ++store.payload.seed) {
    const RunResult result = run(store);
    const Traces looks = traces(store, result, Verb::look, 32);
    const Traces waits = traces(store, result, Verb::wait_group);
    ASSERT_EQ(looks.size(), 2U);
    EXPECT_EQ(waits[0], source_word(store.payload, kGuard / 8));
    EXPECT_TRUE(looks[0] == waits[0] || looks[0] == poison_of(kGuard + 80 * 2 + 16));
    landed += looks[0] == waits[0] ? 1 : 0;
  }
  EXPECT_GT(landed, 0U);
  EXPECT_LT(landed, 200U);
}

TEST(VirtualTileStore, WhatTheKernelLeavesInFlightLandsAllTheSame) {
  TileStore store = inside();
  const Bytes stored = run(store).surroundings;
  for (const StoreWait wait : {StoreWait::none, StoreWait::only_read}) {
    store.wait = wait;
    const RunResult result = run(store);
    EXPECT_EQ(result.surroundings, stored);
    EXPECT_EQ(result.bytes[kGuard], source_byte({.seed = 42}, kGuard));
  }
}

TEST(VirtualTileStore, InvertedPayloadInvertsTheWholeAllocation) {
  TileStore store = inside();
  const auto plain = run(store).surroundings;
  store.payload.inverted = true;
  const auto inverted = run(store).surroundings;
  for (std::size_t i = 0; i < plain.size(); ++i) ASSERT_EQ(plain[i] ^ inverted[i], 0xff) << i;
}

TEST(VirtualTileStore, ANegativeCoordinateIsAStickyFault) {
  TileStore store = inside();
  store.at[1] = -1;
  const RunResult result = run(store);
  EXPECT_EQ(result.fault, DeviceFault::sticky);
  EXPECT_EQ(result.code, 715);
}

TEST(VirtualTileStore, ASourceOff128BytesIsAStickyFault) {
  TileStore store = inside();
  store.source_offset = 64;
  EXPECT_EQ(run(store).code, 716);
}

TEST(VirtualTileStore, ARefusedMapIsAValue) {
  TileStore store = inside();
  store.map.stride[0] = 84;
  EXPECT_EQ(run(store).fault, DeviceFault::encode_refused);
}

TEST(VirtualTileStore, ManyTilesThatDoNotFitSharedMemoryAreAnError) {
  TileStore store = inside();
  store.map.box = {256, 256};
  store.stores = 4;
  EXPECT_THROW((void)run(store), Error);
}

}  // namespace
}  // namespace tidemark
