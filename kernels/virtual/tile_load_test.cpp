// What a tile load on a device without a fault leaves behind, worked out by hand.
#include "kernels/virtual/tile_load.hpp"

#include <gtest/gtest.h>

#include "kernels/error.hpp"
#include "kernels/virtual/tile_load_faults.hpp"

namespace tidemark::kernels {
namespace {

constexpr std::uint64_t kGuard = 1024;

// u8, 64 x 8, rows 80 bytes apart; a box of 32 x 4 from (16, 2).
TileLoad inside() {
  return {.map = {.extent = {64, 8}, .stride = {80}, .box = {32, 4}},
          .at = {16, 2},
          .payload = {.seed = 42}};
}

TEST(VirtualTileLoad, MovesTheBoxRowByRow) {
  const RunResult result = run_virtual_tile_load(inside(), kNoFault);
  ASSERT_EQ(result.fault, DeviceFault::none);
  for (std::uint64_t y = 0; y < 4; ++y)
    for (std::uint64_t x = 0; x < 32; ++x)
      ASSERT_EQ(result.bytes[kGuard + 32 * y + x],
                source_byte({.seed = 42}, kGuard + 80 * (2 + y) + 16 + x))
          << x << ", " << y;
}

TEST(VirtualTileLoad, LeavesPoisonAroundTheTile) {
  TileLoad load = inside();
  load.destination_offset = 128;
  const RunResult result = run_virtual_tile_load(load, kNoFault);
  ASSERT_EQ(result.bytes.size(), 1024U + 128 + 128 + 1024);
  for (std::uint64_t i = 0; i < 1152; ++i)
    ASSERT_EQ(result.bytes[i], poison_byte({.seed = 42}, i)) << i;
  for (std::uint64_t i = 1280; i < 2304; ++i)
    ASSERT_EQ(result.bytes[i], poison_byte({.seed = 42}, i)) << i;
}

TEST(VirtualTileLoad, ReturnsTheSourceUntouched) {
  const RunResult result = run_virtual_tile_load(inside(), kNoFault);
  ASSERT_EQ(result.surroundings.size(), 1024U + 80 * 7 + 64 + 1024);
  for (std::uint64_t i = 0; i < result.surroundings.size(); ++i)
    ASSERT_EQ(result.surroundings[i], source_byte({.seed = 42}, i)) << i;
}

TEST(VirtualTileLoad, LedgerOfAnExactLoad) {
  const BarrierLedger ledger = run_virtual_tile_load(inside(), kNoFault).ledger;
  EXPECT_FALSE(ledger.complete_before_issue);
  EXPECT_TRUE(ledger.complete);
  EXPECT_FALSE(ledger.next_complete_early);
  EXPECT_TRUE(ledger.next_complete);
  EXPECT_EQ(ledger.announced, 128U);
  EXPECT_EQ(ledger.credited, 128U);
  EXPECT_FALSE(ledger.metered_next_early);
  EXPECT_FALSE(ledger.metered_next_lost);
}

TEST(VirtualTileLoad, EachOfFourCopiesFindsPoisonAndLeavesTheSame) {
  const RunResult result = run_virtual_tile_load(inside(), kNoFault);
  ASSERT_EQ(result.later.size(), 3U);
  for (const auto& window : result.later) EXPECT_EQ(window, result.bytes);
}

TEST(VirtualTileLoad, WhatOnlyTheSecondCopyLosesIsPoisonInItsWindow) {
  const RunResult result = run_virtual_tile_load(inside(), kFaultSecondCopyShort);
  ASSERT_EQ(result.later.size(), 3U);
  EXPECT_EQ(result.bytes[kGuard + 127], source_byte({.seed = 42}, kGuard + 80 * 5 + 16 + 31));
  EXPECT_EQ(result.later[0][kGuard + 127], poison_byte({.seed = 42}, kGuard + 127));
  EXPECT_EQ(result.later[1], result.bytes);
}

TEST(VirtualTileLoad, CreditBehindTheMetersBackKeepsItsNextPhaseOpen) {
  const RunResult result = run_virtual_tile_load(inside(), kFaultCreditLate);
  EXPECT_EQ(result.fault, DeviceFault::timeout);
  EXPECT_EQ(result.note, "the wait for phase 1 of the metered barrier ended by its bound");
  EXPECT_EQ(result.ledger.credited, 128U);
  EXPECT_TRUE(result.ledger.next_complete);
  EXPECT_TRUE(result.ledger.metered_next_lost);
}

TEST(VirtualTileLoad, APhaseThatCompletesWithoutCreditTakesNothingAsAnnounced) {
  EXPECT_EQ(run_virtual_tile_load(inside(), kFaultTxCountIgnored).ledger.announced, 0U);
}

TEST(VirtualTileLoad, HintAndSourceChangeNothing) {
  TileLoad load = inside();
  const RunResult plain = run_virtual_tile_load(load, kNoFault);
  load.hint = CacheHint::evict_last;
  load.source = MemorySource::pinned;
  const RunResult other = run_virtual_tile_load(load, kNoFault);
  EXPECT_EQ(other.bytes, plain.bytes);
  EXPECT_EQ(other.ledger, plain.ledger);
}

TEST(VirtualTileLoad, InvertedPayloadInvertsTheWholeWindow) {
  TileLoad load = inside();
  const RunResult plain = run_virtual_tile_load(load, kNoFault);
  load.payload.inverted = true;
  const RunResult inverted = run_virtual_tile_load(load, kNoFault);
  for (std::size_t i = 0; i < plain.bytes.size(); ++i)
    ASSERT_EQ(plain.bytes[i] ^ inverted.bytes[i], 0xff) << i;
}

TEST(VirtualTileLoad, StartsAtTheBaseOffset) {
  const TileLoad load{.map = {.rank = 1, .extent = {64}, .box = {16}, .base_offset = 48},
                      .payload = {.seed = 1}};
  const RunResult result = run_virtual_tile_load(load, kNoFault);
  EXPECT_EQ(result.bytes[kGuard], source_byte({.seed = 1}, kGuard + 48));
}

TEST(VirtualTileLoad, HigherDimensionsFollowTheirStrides) {
  const TileLoad load{.map = {.rank = 5,
                              .extent = {16, 3, 3, 3, 3},
                              .stride = {32, 128, 512, 2048},
                              .box = {16, 2, 2, 2, 2}},
                      .at = {0, 1, 0, 1, 0},
                      .payload = {.seed = 1}};
  const RunResult result = run_virtual_tile_load(load, kNoFault);
  // Rows of the tile: dimension 1 first, so row 13 of 16 is (1, 0, 1, 1) behind the start.
  EXPECT_EQ(result.bytes[kGuard + 16 * 13],
            source_byte({.seed = 1}, kGuard + 32 * 2 + 128 * 0 + 512 * 2 + 2048 * 1));
}

TEST(VirtualTileLoad, ZeroFillsFromTheLastElementOnAndNotFromTheRowsEnd) {
  // f16, 13 elements in rows of 32 bytes: elements 13..15 stand in memory and are outside.
  const TileLoad load{
      .map = {.type = DataType::f16, .extent = {13, 2}, .stride = {32}, .box = {16, 1}},
      .payload = {.seed = 1}};
  const RunResult result = run_virtual_tile_load(load, kNoFault);
  EXPECT_EQ(result.bytes[kGuard + 25], source_byte({.seed = 1}, kGuard + 25));
  for (std::uint64_t i = 26; i < 32; ++i) EXPECT_EQ(result.bytes[kGuard + i], 0);
  EXPECT_EQ(result.ledger.credited, 32U);
}

TEST(VirtualTileLoad, ZeroFillsWhatLiesBeforeTheTensor) {
  TileLoad load = inside();
  load.at = {-16, -1};
  const RunResult result = run_virtual_tile_load(load, kNoFault);
  ASSERT_EQ(result.fault, DeviceFault::none);
  for (std::uint64_t i = 0; i < 32; ++i) EXPECT_EQ(result.bytes[kGuard + i], 0);   // y = -1
  for (std::uint64_t i = 32; i < 48; ++i) EXPECT_EQ(result.bytes[kGuard + i], 0);  // x < 0
  EXPECT_EQ(result.bytes[kGuard + 48], source_byte({.seed = 42}, kGuard));         // (0, 0)
}

TEST(VirtualTileLoad, ZeroFillsFromTheLastRowOn) {
  TileLoad load = inside();
  load.at = {16, 6};  // rows 6 and 7, then two that are outside
  const RunResult result = run_virtual_tile_load(load, kNoFault);
  EXPECT_EQ(result.bytes[kGuard + 63], source_byte({.seed = 42}, kGuard + 80 * 7 + 47));
  for (std::uint64_t i = 64; i < 128; ++i) EXPECT_EQ(result.bytes[kGuard + i], 0);
}

TEST(VirtualTileLoad, BoxWhollyOutsideIsAllFillAndFullCredit) {
  TileLoad load = inside();
  load.at = {0x40000000, 0};
  const RunResult result = run_virtual_tile_load(load, kNoFault);
  for (std::uint64_t i = 0; i < 128; ++i) EXPECT_EQ(result.bytes[kGuard + i], 0);
  EXPECT_EQ(result.ledger.credited, 128U);
}

TEST(VirtualTileLoad, CoordinatesAtTheEndOf32BitsDoNotWrap) {
  TileLoad load = inside();
  load.at = {0x7ffffff0, 0x7fffffff};
  const RunResult result = run_virtual_tile_load(load, kNoFault);
  for (std::uint64_t i = 0; i < 128; ++i) EXPECT_EQ(result.bytes[kGuard + i], 0);
}

TEST(VirtualTileLoad, NanFillIsTheSame16BitsInEveryWidth) {
  TileLoad load{
      .map = {.type = DataType::f32, .rank = 1, .extent = {4}, .box = {8}, .fill = Fill::nan},
      .payload = {.seed = 1}};
  const RunResult result = run_virtual_tile_load(load, kNoFault);
  EXPECT_EQ(result.bytes[kGuard + 16], 0xf7);
  EXPECT_EQ(result.bytes[kGuard + 17], 0x7f);
  EXPECT_EQ(result.bytes[kGuard + 18], 0xf7);
  EXPECT_EQ(result.bytes[kGuard + 19], 0x7f);
}

TEST(VirtualTileLoad, ElementStrideSkipsRowsAndRoundsTheCountUp) {
  // Box of 7 rows, every third: rows 1, 4 and 7.
  TileLoad load = inside();
  load.map.box = {16, 7};
  load.map.element_stride = {2, 3, 1, 1, 1};
  load.at = {0, 1};
  const RunResult result = run_virtual_tile_load(load, kNoFault);
  ASSERT_EQ(result.bytes.size(), 1024U + 48 + 1024);
  EXPECT_EQ(result.bytes[kGuard + 1], source_byte({.seed = 42}, kGuard + 80 * 1 + 1));
  EXPECT_EQ(result.bytes[kGuard + 16], source_byte({.seed = 42}, kGuard + 80 * 4));
  EXPECT_EQ(result.bytes[kGuard + 32], source_byte({.seed = 42}, kGuard + 80 * 7));
  EXPECT_EQ(result.ledger.credited, 48U);
}

TEST(VirtualTileLoad, SwizzleExchangesChunksByTheRowOfTheAddress) {
  // PTX ISA 9.0, 5.5.7, 128-byte mode: row 3 reads 3 2 1 0 7 6 5 4.
  const TileLoad load{
      .map = {.extent = {128, 8}, .stride = {128}, .box = {128, 8}, .swizzle = Swizzle::b128},
      .payload = {.seed = 1}};
  const RunResult result = run_virtual_tile_load(load, kNoFault);
  EXPECT_EQ(result.bytes[kGuard], source_byte({.seed = 1}, kGuard));
  EXPECT_EQ(result.bytes[kGuard + 3 * 128], source_byte({.seed = 1}, kGuard + 3 * 128 + 3 * 16));
  EXPECT_EQ(result.bytes[kGuard + 3 * 128 + 64],
            source_byte({.seed = 1}, kGuard + 3 * 128 + 7 * 16));
}

TEST(VirtualTileLoad, SwizzlePhaseMovesWithTheDestination) {
  const TileLoad load{
      .map = {.extent = {128, 8}, .stride = {128}, .box = {128, 1}, .swizzle = Swizzle::b128},
      .destination_offset = 384,
      .payload = {.seed = 1}};
  const RunResult result = run_virtual_tile_load(load, kNoFault);
  EXPECT_EQ(result.bytes[kGuard + 384], source_byte({.seed = 1}, kGuard + 3 * 16));
}

TEST(VirtualTileLoad, NarrowSwizzlesUseTheirOwnBitsOfTheRow) {
  // 32-byte mode: the second 128 bytes read 1 0 3 2 5 4 7 6, the third are in order again.
  const TileLoad load{
      .map = {.extent = {32, 12}, .stride = {32}, .box = {32, 12}, .swizzle = Swizzle::b32},
      .payload = {.seed = 1}};
  const RunResult result = run_virtual_tile_load(load, kNoFault);
  EXPECT_EQ(result.bytes[kGuard + 128], source_byte({.seed = 1}, kGuard + 128 + 16));
  EXPECT_EQ(result.bytes[kGuard + 256], source_byte({.seed = 1}, kGuard + 256));
}

TEST(VirtualTileLoad, InnerCoordinateOff16BytesIsAnIllegalInstruction) {
  TileLoad load = inside();
  load.at = {17, 2};
  const RunResult right = run_virtual_tile_load(load, kNoFault);
  EXPECT_EQ(right.fault, DeviceFault::sticky);
  EXPECT_EQ(right.code, 715);
  EXPECT_NE(right.note.find("inner coordinate 17 of u8"), std::string::npos);
  load.at = {-1, 2};
  EXPECT_EQ(run_virtual_tile_load(load, kNoFault).code, 715);
}

TEST(VirtualTileLoad, InnerCoordinateCountsInBytes) {
  TileLoad load = inside();
  load.map = {.type = DataType::f32, .extent = {16, 8}, .stride = {80}, .box = {8, 4}};
  load.at = {-4, 0};
  EXPECT_EQ(run_virtual_tile_load(load, kNoFault).fault, DeviceFault::none);
  load.at = {2, 0};
  EXPECT_EQ(run_virtual_tile_load(load, kNoFault).fault, DeviceFault::sticky);
}

TEST(VirtualTileLoad, DestinationOff128BytesIsAMisalignedAddress) {
  TileLoad load = inside();
  load.destination_offset = 64;
  const RunResult result = run_virtual_tile_load(load, kNoFault);
  EXPECT_EQ(result.fault, DeviceFault::sticky);
  EXPECT_EQ(result.code, 716);
}

TEST(VirtualTileLoad, RefusedMapIsAResultWithTheRuleInWords) {
  TileLoad load = inside();
  load.map.stride[0] = 88;
  const RunResult result = run_virtual_tile_load(load, kNoFault);
  EXPECT_EQ(result.fault, DeviceFault::encode_refused);
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.note.find("stride 88 of dimension 1"), std::string::npos);
}

TEST(VirtualTileLoad, TileLargerThanSharedMemoryIsAnError) {
  TileLoad load = inside();
  load.map.box = {256, 256, 256, 256, 256};
  load.map.rank = 5;
  load.map.extent = {256, 1, 1, 1, 1};
  EXPECT_THROW(run_virtual_tile_load(load, kNoFault), Error);
}

TEST(VirtualTileLoad, TensorLargerThanMemoryIsAnError) {
  TileLoad load = inside();
  load.map.extent[1] = std::uint64_t{1} << 32;
  load.map.stride[0] = (std::uint64_t{1} << 40) - 16;
  EXPECT_THROW(run_virtual_tile_load(load, kNoFault), Error);
}

TEST(VirtualTileLoad, WaitThatEndsByItsBoundKeepsTheBytes) {
  const RunResult result = run_virtual_tile_load(inside(), kFaultPhaseNeverFlips);
  EXPECT_EQ(result.fault, DeviceFault::timeout);
  EXPECT_FALSE(result.ledger.complete);
  EXPECT_EQ(result.bytes[kGuard], source_byte({.seed = 42}, kGuard + 80 * 2 + 16));
}

TEST(VirtualTileLoad, MeterCountsALostCredit) {
  const RunResult result = run_virtual_tile_load(inside(), kFaultCreditShort);
  EXPECT_EQ(result.fault, DeviceFault::timeout);
  EXPECT_EQ(result.ledger.credited, 112U);
}

TEST(VirtualTileLoad, MeterCountsASurplusCredit) {
  EXPECT_EQ(run_virtual_tile_load(inside(), kFaultCreditOver).ledger.credited, 144U);
}

TEST(VirtualTileLoad, MeasuresAsManySamplesAsAsked) {
  const Measurement measured =
      measure_virtual_tile_load(inside(), {.warmups = 1, .samples = 4}, kNoFault);
  ASSERT_EQ(measured.samples.size(), 4U);
  EXPECT_GT(measured.samples[0].total_ns, 0);
}

TEST(VirtualTileLoad, MeasuringWhatFaultsGivesTheFault) {
  TileLoad load = inside();
  load.at = {17, 2};
  const Measurement measured = measure_virtual_tile_load(load, {}, kNoFault);
  EXPECT_EQ(measured.fault, DeviceFault::sticky);
  EXPECT_EQ(measured.code, 715);
  EXPECT_TRUE(measured.samples.empty());
}

}  // namespace
}  // namespace tidemark::kernels
