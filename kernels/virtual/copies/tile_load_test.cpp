// What the program of a tile load, with its checks, leaves on the virtual device, worked out by
// hand.
#include "kernels/ops/tile_load.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/error.hpp"
#include "kernels/ops/program/checks.hpp"
#include "kernels/virtual/copies/tile_load_faults.hpp"
#include "kernels/virtual/program/program.hpp"

namespace tidemark {
namespace {

constexpr std::uint64_t kGuard = 1024;

// u8, 64 x 8, rows 80 bytes apart; a box of 32 x 4 from (16, 2).
TileLoad inside() {
  return {.map = {.extent = {64, 8}, .stride = {80}, .box = {32, 4}},
          .at = {16, 2},
          .payload = {.seed = 42}};
}

RunResult run(const TileLoad& load, Fault fault = kNoFault) {
  return run_virtual_program(with_checks(program_of(load)), fault);
}

using Bytes = std::vector<std::uint8_t>;
using Traces = std::vector<std::uint64_t>;

// The windows that the program hands out: behind each of its two copies, at its end, and behind the
// exact copy of the checks.
constexpr std::size_t kWindows = 4;

Bytes window(const TileLoad& load, const RunResult& result, std::size_t number) {
  const std::size_t bytes = window_bytes(load);
  return {&result.bytes[number * bytes], &result.bytes[number * bytes] + bytes};
}

// Traces of the steps of one verb, in their order.
Traces traces(const TileLoad& load, const RunResult& result, Verb verb) {
  const Program program = with_checks(program_of(load));
  Traces of_verb;
  for (std::size_t i = 0; i < program.steps.size(); ++i)
    if (program.steps[i].verb == verb) of_verb.push_back(result.trace[i]);
  return of_verb;
}

// Whether each copy was credited what was announced for it, no byte more and none less.
bool is_credited_exactly(const TileLoad& load, const RunResult& result) {
  return result.fault == DeviceFault::none &&
         traces(load, result, Verb::meter) == Traces(2, meter_trace(false, true, 0));
}

std::string error_of(const TileLoad& load) {
  try {
    (void)run(load);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(VirtualTileLoad, MovesTheBoxRowByRow) {
  const RunResult result = run(inside());
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
  const RunResult result = run(load);
  ASSERT_EQ(result.bytes.size(), kWindows * (1024U + 128 + 128 + 1024));
  for (std::uint64_t i = 0; i < 1152; ++i)
    ASSERT_EQ(result.bytes[i], poison_byte({.seed = 42}, i)) << i;
  for (std::uint64_t i = 1280; i < 2304; ++i)
    ASSERT_EQ(result.bytes[i], poison_byte({.seed = 42}, i)) << i;
}

TEST(VirtualTileLoad, ReturnsTheSourceUntouched) {
  const RunResult result = run(inside());
  ASSERT_EQ(result.surroundings.size(), 1024U + 80 * 7 + 64 + 1024);
  for (std::uint64_t i = 0; i < result.surroundings.size(); ++i)
    ASSERT_EQ(result.surroundings[i], source_byte({.seed = 42}, i)) << i;
}

TEST(VirtualTileLoad, TracesOfAnExactLoad) {
  const RunResult result = run(inside());
  EXPECT_EQ(traces(inside(), result, Verb::test), Traces(4, 0));
  EXPECT_EQ(traces(inside(), result, Verb::wait), Traces(4, 1));
  EXPECT_TRUE(is_credited_exactly(inside(), result));
}

TEST(VirtualTileLoad, EachWindowIsTheSame) {
  const RunResult result = run(inside());
  ASSERT_EQ(result.bytes.size(), kWindows * window_bytes(inside()));
  for (std::size_t i = 1; i < kWindows; ++i)
    EXPECT_EQ(window(inside(), result, i), window(inside(), result, 0)) << i;
}

TEST(VirtualTileLoad, WhatOnlyTheSecondCopyLosesIsPoisonInItsWindow) {
  const RunResult result = run(inside(), kFaultSecondCopyShort);
  const std::uint8_t last = source_byte({.seed = 42}, kGuard + 80 * 5 + 16 + 31);
  EXPECT_EQ(window(inside(), result, 0)[kGuard + 127], last);
  EXPECT_EQ(window(inside(), result, 1)[kGuard + 127], poison_byte({.seed = 42}, kGuard + 127));
  EXPECT_EQ(window(inside(), result, 3)[kGuard + 127], last);
}

TEST(VirtualTileLoad, WhatOnlyTheCopyOfTheChecksLosesIsPoisonInItsWindow) {
  const RunResult result = run(inside(), kFaultLaterCopyShort);
  EXPECT_EQ(window(inside(), result, 1), window(inside(), result, 0));
  EXPECT_EQ(window(inside(), result, 3)[kGuard + 127], poison_byte({.seed = 42}, kGuard + 127));
}

TEST(VirtualTileLoad, PhaseThatCompletesByItsArrivalIsReadTooEarly) {
  const RunResult result = run(inside(), kFaultTxCountIgnored);
  EXPECT_EQ(traces(inside(), result, Verb::wait), Traces(4, 1));
  EXPECT_EQ(window(inside(), result, 0)[kGuard], poison_byte({.seed = 42}, kGuard));
}

TEST(VirtualTileLoad, HintAndSourceChangeNothing) {
  TileLoad load = inside();
  const RunResult plain = run(load);
  load.hint = CacheHint::evict_last;
  load.source = MemorySource::pinned;
  const RunResult other = run(load);
  EXPECT_EQ(other.bytes, plain.bytes);
  EXPECT_EQ(other.trace, plain.trace);
}

TEST(VirtualTileLoad, InvertedPayloadInvertsEachWindow) {
  TileLoad load = inside();
  const RunResult plain = run(load);
  load.payload.inverted = true;
  const RunResult inverted = run(load);
  for (std::size_t i = 0; i < plain.bytes.size(); ++i)
    ASSERT_EQ(plain.bytes[i] ^ inverted.bytes[i], 0xff) << i;
}

TEST(VirtualTileLoad, StartsAtTheBaseOffset) {
  const TileLoad load{.map = {.rank = 1, .extent = {64}, .box = {16}, .base_offset = 48},
                      .payload = {.seed = 1}};
  const RunResult result = run(load);
  EXPECT_EQ(result.bytes[kGuard], source_byte({.seed = 1}, kGuard + 48));
}

TEST(VirtualTileLoad, HigherDimensionsFollowTheirStrides) {
  const TileLoad load{.map = {.rank = 5,
                              .extent = {16, 3, 3, 3, 3},
                              .stride = {32, 128, 512, 2048},
                              .box = {16, 2, 2, 2, 2}},
                      .at = {0, 1, 0, 1, 0},
                      .payload = {.seed = 1}};
  const RunResult result = run(load);
  // Rows of the tile: dimension 1 first, so row 13 of 16 is (1, 0, 1, 1) behind the start.
  EXPECT_EQ(result.bytes[kGuard + 16 * 13],
            source_byte({.seed = 1}, kGuard + 32 * 2 + 128 * 0 + 512 * 2 + 2048 * 1));
}

TEST(VirtualTileLoad, ZeroFillsFromTheLastElementOnAndNotFromTheRowsEnd) {
  // f16, 13 elements in rows of 32 bytes: elements 13..15 stand in memory and are outside.
  const TileLoad load{
      .map = {.type = DataType::f16, .extent = {13, 2}, .stride = {32}, .box = {16, 1}},
      .payload = {.seed = 1}};
  const RunResult result = run(load);
  EXPECT_EQ(result.bytes[kGuard + 25], source_byte({.seed = 1}, kGuard + 25));
  for (std::uint64_t i = 26; i < 32; ++i) EXPECT_EQ(result.bytes[kGuard + i], 0);
  EXPECT_TRUE(is_credited_exactly(load, result));
}

TEST(VirtualTileLoad, ZeroFillsWhatLiesBeforeTheTensor) {
  TileLoad load = inside();
  load.at = {-16, -1};
  const RunResult result = run(load);
  ASSERT_EQ(result.fault, DeviceFault::none);
  for (std::uint64_t i = 0; i < 32; ++i) EXPECT_EQ(result.bytes[kGuard + i], 0);   // y = -1
  for (std::uint64_t i = 32; i < 48; ++i) EXPECT_EQ(result.bytes[kGuard + i], 0);  // x < 0
  EXPECT_EQ(result.bytes[kGuard + 48], source_byte({.seed = 42}, kGuard));         // (0, 0)
}

TEST(VirtualTileLoad, ZeroFillsFromTheLastRowOn) {
  TileLoad load = inside();
  load.at = {16, 6};  // rows 6 and 7, then two that are outside
  const RunResult result = run(load);
  EXPECT_EQ(result.bytes[kGuard + 63], source_byte({.seed = 42}, kGuard + 80 * 7 + 47));
  for (std::uint64_t i = 64; i < 128; ++i) EXPECT_EQ(result.bytes[kGuard + i], 0);
}

TEST(VirtualTileLoad, BoxWhollyOutsideIsAllFillAndFullCredit) {
  TileLoad load = inside();
  load.at = {0x40000000, 0};
  const RunResult result = run(load);
  for (std::uint64_t i = 0; i < 128; ++i) EXPECT_EQ(result.bytes[kGuard + i], 0);
  EXPECT_TRUE(is_credited_exactly(load, result));
}

TEST(VirtualTileLoad, CoordinatesAtTheEndOf32BitsDoNotWrap) {
  TileLoad load = inside();
  load.at = {0x7ffffff0, 0x7fffffff};
  const RunResult result = run(load);
  for (std::uint64_t i = 0; i < 128; ++i) EXPECT_EQ(result.bytes[kGuard + i], 0);
}

TEST(VirtualTileLoad, NanFillIsTheSame16BitsInEveryWidth) {
  TileLoad load{
      .map = {.type = DataType::f32, .rank = 1, .extent = {4}, .box = {8}, .fill = Fill::nan},
      .payload = {.seed = 1}};
  const RunResult result = run(load);
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
  const RunResult result = run(load);
  ASSERT_EQ(result.bytes.size(), kWindows * (1024U + 48 + 1024));
  EXPECT_EQ(result.bytes[kGuard + 1], source_byte({.seed = 42}, kGuard + 80 * 1 + 1));
  EXPECT_EQ(result.bytes[kGuard + 16], source_byte({.seed = 42}, kGuard + 80 * 4));
  EXPECT_EQ(result.bytes[kGuard + 32], source_byte({.seed = 42}, kGuard + 80 * 7));
  EXPECT_EQ(tile_bytes(load.map), 48U);
  EXPECT_TRUE(is_credited_exactly(load, result));
}

TEST(VirtualTileLoad, SwizzleExchangesChunksByTheRowOfTheAddress) {
  // PTX ISA 9.0, 5.5.7, 128-byte mode: row 3 reads 3 2 1 0 7 6 5 4.
  const TileLoad load{
      .map = {.extent = {128, 8}, .stride = {128}, .box = {128, 8}, .swizzle = Swizzle::b128},
      .payload = {.seed = 1}};
  const RunResult result = run(load);
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
  const RunResult result = run(load);
  EXPECT_EQ(result.bytes[kGuard + 384], source_byte({.seed = 1}, kGuard + 3 * 16));
}

TEST(VirtualTileLoad, NarrowSwizzlesUseTheirOwnBitsOfTheRow) {
  // 32-byte mode: the second 128 bytes read 1 0 3 2 5 4 7 6, the third are in order again.
  const TileLoad load{
      .map = {.extent = {32, 12}, .stride = {32}, .box = {32, 12}, .swizzle = Swizzle::b32},
      .payload = {.seed = 1}};
  const RunResult result = run(load);
  EXPECT_EQ(result.bytes[kGuard + 128], source_byte({.seed = 1}, kGuard + 128 + 16));
  EXPECT_EQ(result.bytes[kGuard + 256], source_byte({.seed = 1}, kGuard + 256));
}

TEST(VirtualTileLoad, InnerCoordinateOff16BytesIsAnIllegalInstruction) {
  TileLoad load = inside();
  load.at = {17, 2};
  const RunResult right = run(load);
  EXPECT_EQ(right.fault, DeviceFault::sticky);
  EXPECT_EQ(right.code, 715);
  EXPECT_NE(right.note.find("inner coordinate 17 of u8"), std::string::npos);
  load.at = {-1, 2};
  EXPECT_EQ(run(load).code, 715);
}

TEST(VirtualTileLoad, InnerCoordinateCountsInBytes) {
  TileLoad load = inside();
  load.map = {.type = DataType::f32, .extent = {16, 8}, .stride = {80}, .box = {8, 4}};
  load.at = {-4, 0};
  EXPECT_EQ(run(load).fault, DeviceFault::none);
  load.at = {2, 0};
  EXPECT_EQ(run(load).fault, DeviceFault::sticky);
}

TEST(VirtualTileLoad, TileLargerThanSharedMemoryIsAnError) {
  TileLoad load = inside();
  load.map.type = DataType::u32;
  load.map.box = {256, 256};
  EXPECT_EQ(error_of(load),
            "program: a window of 264192 bytes does not fit shared memory (232448)");
}

TEST(VirtualTileLoad, TileWhoseSizeLeaves32BitsIsAnError) {
  TileLoad load = inside();
  load.map.box = {256, 256, 256, 256, 256};
  load.map.rank = 5;
  load.map.extent = {256, 1, 1, 1, 1};
  EXPECT_NE(error_of(load).find("beyond what a tx-count holds"), std::string::npos);
}

TEST(VirtualTileLoad, TensorLargerThanMemoryHasToBeMapped) {
  TileLoad load = inside();
  load.map.extent[1] = std::uint64_t{1} << 32;
  load.map.stride[0] = (std::uint64_t{1} << 40) - 16;
  EXPECT_NE(error_of(load).find("islands of memory that is not mapped"), std::string::npos);
}

TEST(VirtualTileLoad, WaitThatEndsByItsBoundKeepsTheBytes) {
  const RunResult result = run(inside(), kFaultPhaseNeverFlips);
  EXPECT_EQ(result.fault, DeviceFault::timeout);
  EXPECT_EQ(result.note, "step 5: the wait of CTA 0 on barrier 0 ended by its bound");
  EXPECT_EQ(traces(inside(), result, Verb::wait), Traces(4, 0));
  EXPECT_EQ(result.bytes, run(inside()).bytes);
}

TEST(VirtualTileLoad, LostCreditStopsTheFirstWait) {
  const RunResult result = run(inside(), kFaultCreditShort);
  EXPECT_EQ(result.note, "step 5: the wait of CTA 0 on barrier 0 ended by its bound");
}

TEST(VirtualTileLoad, CreditLeftOverStopsTheSecondWait) {
  const RunResult result = run(inside(), kFaultCreditFollowedByMore);
  EXPECT_EQ(result.note, "step 11: the wait of CTA 0 on barrier 0 ended by its bound");
}

TEST(VirtualTileLoad, MetersCountSurplusCredit) {
  const RunResult result = run(inside(), kFaultCreditTwice);
  const Traces expected{meter_trace(false, true, -256), meter_trace(false, true, -128)};
  EXPECT_EQ(traces(inside(), result, Verb::meter), expected);
}

TEST(VirtualTileLoad, ElementStridesOf0And9AreRefusedInEachDimension) {
  for (const std::uint32_t step : {0U, 9U})
    for (std::uint32_t i = 0; i < 2; ++i) {
      TileLoad load = inside();
      load.map.element_stride[i] = step;
      EXPECT_EQ(run(load).fault, DeviceFault::encode_refused) << step << " in dimension " << i;
    }
}

}  // namespace
}  // namespace tidemark
