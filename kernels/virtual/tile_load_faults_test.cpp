// Every fault of a tile load must be seen on some row, and none where its step does not occur.
#include "kernels/virtual/tile_load_faults.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/virtual/tile_load.hpp"

namespace tidemark::kernels {
namespace {

bool differ(const RunResult& a, const RunResult& b) {
  return a.fault != b.fault || a.code != b.code || a.bytes != b.bytes ||
         a.surroundings != b.surroundings || a.later != b.later || a.ledger != b.ledger;
}

bool is_visible(Fault fault, const TileLoad& load) {
  return differ(run_virtual_tile_load(load, fault), run_virtual_tile_load(load, kNoFault));
}

TileLoad row(const TensorMapSpec& map, std::array<std::int32_t, kMaxRank> at,
             std::uint32_t destination_offset = 0) {
  return {.map = map,
          .at = at,
          .destination_offset = destination_offset,
          .payload = {.seed = 11, .inverted = false}};
}

// u8, packed, unswizzled, nothing outside, from the start: the steps below have nothing to do.
TileLoad plainest() { return row({.extent = {64, 8}, .stride = {64}, .box = {32, 4}}, {0, 0}); }

TileLoad hinted(CacheHint hint) {
  TileLoad load = plainest();
  load.hint = hint;
  return load;
}

// From the second 4 KiB of its allocation on.
TileLoad from(MemorySource source) {
  TileLoad load = row({.extent = {64, 64}, .stride = {64}, .box = {32, 4}}, {0, 60});
  load.source = source;
  return load;
}

std::vector<TileLoad> rows() {
  return {
      plainest(),
      row({.type = DataType::u16,
           .rank = 3,
           .extent = {40, 9, 5},
           .stride = {96, 896},
           .box = {16, 4, 3},
           .base_offset = 48},
          {8, 2, 1}, 128),
      row({.type = DataType::bf16, .extent = {64, 8}, .stride = {128}, .box = {16, 4}}, {16, 1}),
      row({.type = DataType::tf32, .extent = {64, 8}, .stride = {256}, .box = {16, 4}}, {16, 1}),
      row({.type = DataType::u64, .extent = {16, 8}, .stride = {128}, .box = {4, 4}}, {2, 1}),
      row({.extent = {64, 20}, .stride = {64}, .box = {32, 7}, .element_stride = {2, 3, 1, 1, 1}},
          {0, 2}),
      // f32, 13 x 5: over the right edge and below; before the left edge and above; right alone.
      row({.type = DataType::f32, .extent = {13, 5}, .stride = {64}, .box = {16, 4}}, {4, 3}),
      row({.type = DataType::f32, .extent = {13, 5}, .stride = {64}, .box = {8, 4}}, {-4, -2}),
      row({.type = DataType::f32,
           .extent = {13, 5},
           .stride = {64},
           .box = {16, 4},
           .fill = Fill::nan},
          {4, 1}),
      row({.rank = 1, .extent = {64}, .box = {16}}, {65536}),
      row({.rank = 1, .extent = {64}, .box = {16}}, {1 << 24}),
      // Three groups of columns in one row-major matrix: dimension 2 steps inside a row.
      row({.rank = 3, .extent = {32, 6, 3}, .stride = {96, 32}, .box = {32, 4, 3}}, {0, 1, 0}),
      hinted(CacheHint::evict_normal),
      hinted(CacheHint::evict_first),
      hinted(CacheHint::evict_last),
      from(MemorySource::async),
      from(MemorySource::pinned),
      from(MemorySource::mapped),
      row({.rank = 3,
           .extent = {128, 3, 4},
           .stride = {128, 384},
           .box = {128, 3, 4},
           .swizzle = Swizzle::b128},
          {0, 0, 0}, 384),
      row({.extent = {64, 16}, .stride = {64}, .box = {64, 16}, .swizzle = Swizzle::b64}, {0, 0}),
      // Rows of 16 bytes under a wider swizzle.
      row({.extent = {64, 16}, .stride = {64}, .box = {16, 16}, .swizzle = Swizzle::b64}, {0, 0}),
      row({.type = DataType::f32_ftz, .extent = {64, 8}, .stride = {256}, .box = {16, 4}}, {16, 1}),
      // Illegal: off 128 bytes by 16 and by 8 in shared memory, off 16 bytes in dimension 0.
      row({.extent = {64, 8}, .stride = {64}, .box = {32, 4}}, {0, 0}, 16),
      row({.extent = {64, 8}, .stride = {64}, .box = {32, 4}}, {0, 0}, 8),
      row({.extent = {64, 8}, .stride = {64}, .box = {32, 4}}, {17, 0}),
  };
}

TEST(TileLoadFaults, ThereAreAtLeast28) { EXPECT_GE(tile_load_faults().size(), 28U); }

TEST(TileLoadFaults, ValuesAscendFrom100To199) {
  std::uint32_t before = 100;
  for (const FaultInfo& info : tile_load_faults()) {
    EXPECT_GT(static_cast<std::uint32_t>(info.fault), before) << info.name;
    before = static_cast<std::uint32_t>(info.fault);
  }
  EXPECT_LT(before, 200U);
}

TEST(TileLoadFaults, EachIsVisibleOnSomeRow) {
  const std::vector<TileLoad> all = rows();
  for (const FaultInfo& info : tile_load_faults())
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const TileLoad& load) {
      return is_visible(info.fault, load);
    })) << info.name;
}

TEST(TileLoadFaults, NoTwoDoTheSameOnEveryRow) {
  const std::vector<TileLoad> all = rows();
  const auto faults = tile_load_faults();
  for (std::size_t i = 0; i < faults.size(); ++i)
    for (std::size_t j = i + 1; j < faults.size(); ++j)
      EXPECT_TRUE(std::any_of(all.begin(), all.end(),
                              [&](const TileLoad& load) {
                                return differ(run_virtual_tile_load(load, faults[i].fault),
                                              run_virtual_tile_load(load, faults[j].fault));
                              }))
          << faults[i].name << " and " << faults[j].name;
}

TEST(TileLoadFaults, HarmlessWhereTheirStepDoesNotOccur) {
  const std::vector<Fault> idle = {kFaultStridesExchanged,
                                   kFaultStridesPacked,
                                   kFaultBaseOffsetIgnored,
                                   kFaultStartExchanged,
                                   kFaultStartTruncated,
                                   kFaultBf16AsFourBytes,
                                   kFaultTf32AsTwoBytes,
                                   kFaultFtzAsTf32,
                                   kFaultElementStrideIgnored,
                                   kFaultElementStrideInner,
                                   kFaultElementStrideRoundsDown,
                                   kFaultElementStrideScalesStart,
                                   kFaultMisalignedRoundedDown,
                                   kFaultMisalignedTo16,
                                   kFaultMisalignedAs719,
                                   kFaultInnerRoundedDown,
                                   kFaultInnerAtElement,
                                   kFaultIllegalAs700,
                                   kFaultErrorLost,
                                   kFaultUpperInnerLong,
                                   kFaultUpperInnerShort,
                                   kFaultUpperOuterLong,
                                   kFaultUpperOuterShort,
                                   kFaultUpperInnerRounded,
                                   kFaultUpperInnerByChunk,
                                   kFaultUpperInnerByRow,
                                   kFaultUpperOuterByBox,
                                   kFaultLowerInnerIgnored,
                                   kFaultLowerOuterIgnored,
                                   kFaultLowerOuterClamped,
                                   kFaultFillOnes,
                                   kFaultZeroFillNan,
                                   kFaultNanFillZero,
                                   kFaultNanFillLowWord,
                                   kFaultFillSkipped,
                                   kFaultWideHalvesExchanged,
                                   kFaultU16BytesExchanged,
                                   kFaultSwizzleIgnored,
                                   kFaultSwizzleNarrower,
                                   kFaultSwizzleWider,
                                   kFaultSwizzleRelative,
                                   kFaultSwizzleRowShifted,
                                   kFaultSwizzlePlaneAnew,
                                   kFaultGroupStrideAsRow,
                                   kFaultNanFillOtherBits,
                                   kFaultNanFillInfinity,
                                   kFaultStartTruncated24,
                                   kFaultEvictFirstDropsChunk,
                                   kFaultEvictLastHalvesChunk,
                                   kFaultEvictNormalFlipsBit,
                                   kFaultPinnedShort,
                                   kFaultAsyncShifted,
                                   kFaultMappedRepeats,
                                   kFaultCreditInsideOnly,
                                   kFaultFilledChunkNoCredit};
  for (const Fault fault : idle)
    EXPECT_FALSE(is_visible(fault, plainest())) << static_cast<int>(fault);
}

TEST(TileLoadFaults, EachCanBeSaidInALine) {
  for (const FaultInfo& info : tile_load_faults()) {
    EXPECT_EQ(info.op, OpKind::tile_load);
    EXPECT_TRUE(info.name.starts_with("load_")) << info.name;
    EXPECT_NE(info.step.find(": "), std::string_view::npos) << info.name;
  }
}

// The faults that come near being right, each against the one thing it changes.

TEST(TileLoadFaults, RowPaddingLeakShowsMemoryBehindTheTensor) {
  const TileLoad load = rows()[6];
  const RunResult result = run_virtual_tile_load(load, kFaultUpperInnerRounded);
  // Element 13 of row 3 stands at column 9 of the tile and is no part of the tensor.
  EXPECT_EQ(result.bytes[1024 + 9 * 4], source_byte({.seed = 11}, 1024 + 3 * 64 + 13 * 4));
  EXPECT_EQ(result.bytes[1024 + 13 * 4 - 4], 0);
}

TEST(TileLoadFaults, CreditBeforeTheLastChunkLeavesPoisonInSixteenBytes) {
  const RunResult right = run_virtual_tile_load(plainest(), kNoFault);
  const RunResult wrong = run_virtual_tile_load(plainest(), kFaultCreditBeforeLastChunk);
  EXPECT_EQ(wrong.fault, DeviceFault::none);
  EXPECT_EQ(wrong.ledger.credited, 128U);
  std::size_t unlike = 0;
  for (std::size_t i = 0; i < right.bytes.size(); ++i)
    unlike += right.bytes[i] != wrong.bytes[i] ? 1 : 0;
  EXPECT_GE(unlike, 14U);
  EXPECT_LE(unlike, 16U);
}

TEST(TileLoadFaults, BitFlippedChangesOneBit) {
  const RunResult right = run_virtual_tile_load(plainest(), kNoFault);
  RunResult wrong = run_virtual_tile_load(plainest(), kFaultBitFlipped);
  wrong.bytes[1024 + 128 - 16 + 5] ^= 0x08;
  EXPECT_EQ(wrong.bytes, right.bytes);
}

TEST(TileLoadFaults, BitFlippedLeavesFillAlone) {
  EXPECT_FALSE(is_visible(kFaultBitFlipped, row({.rank = 1, .extent = {16}, .box = {16}}, {16})));
}

TEST(TileLoadFaults, WritesBehindTouchesOnlyTheGuard) {
  const RunResult right = run_virtual_tile_load(plainest(), kNoFault);
  RunResult wrong = run_virtual_tile_load(plainest(), kFaultWritesBehind);
  EXPECT_NE(wrong.bytes, right.bytes);
  std::copy_n(&right.bytes[1024 + 128], 16, &wrong.bytes[1024 + 128]);
  EXPECT_EQ(wrong.bytes, right.bytes);
}

// plainest(), off 128 bytes by `offset` in shared memory.
TileLoad misaligned(std::uint32_t offset) {
  TileLoad load = plainest();
  load.destination_offset = offset;
  return load;
}

TEST(TileLoadFaults, RoundedDownPutsTheTileOnThe128Below) {
  const RunResult wrong = run_virtual_tile_load(misaligned(64), kFaultMisalignedRoundedDown);
  ASSERT_EQ(wrong.fault, DeviceFault::none);
  const RunResult at_zero = run_virtual_tile_load(misaligned(0), kNoFault);
  EXPECT_TRUE(std::equal(at_zero.bytes.begin() + 1024, at_zero.bytes.begin() + 1024 + 128,
                         wrong.bytes.begin() + 1024));
}

TEST(TileLoadFaults, AlignmentTo16TakesSixteenAndRefusesEight) {
  EXPECT_EQ(run_virtual_tile_load(misaligned(16), kFaultMisalignedTo16).fault, DeviceFault::none);
  EXPECT_EQ(run_virtual_tile_load(misaligned(8), kFaultMisalignedTo16).code, 716);
}

TEST(TileLoadFaults, OtherErrorsAreStickyToo) {
  TileLoad load = plainest();
  load.at[0] = -1;
  const RunResult inner = run_virtual_tile_load(load, kFaultIllegalAs700);
  EXPECT_EQ(inner.fault, DeviceFault::sticky);
  EXPECT_EQ(inner.code, 700);
  EXPECT_EQ(inner.note, "illegal address: inner coordinate -1 of u8 is off 16 bytes");
  const RunResult shared = run_virtual_tile_load(misaligned(32), kFaultMisalignedAs719);
  EXPECT_EQ(shared.fault, DeviceFault::sticky);
  EXPECT_EQ(shared.code, 719);
}

TEST(TileLoadFaults, InnerCoordinatesAreRoundedDownBelowZeroToo) {
  TileLoad load = plainest();
  load.at[0] = -1;
  const RunResult wrong = run_virtual_tile_load(load, kFaultInnerRoundedDown);
  load.at[0] = -16;
  EXPECT_EQ(wrong.bytes, run_virtual_tile_load(load, kNoFault).bytes);
}

TEST(TileLoadFaults, ALostErrorLeavesPoisonAndAWaitThatEndsByItsBound) {
  const RunResult wrong = run_virtual_tile_load(misaligned(8), kFaultErrorLost);
  ASSERT_EQ(wrong.fault, DeviceFault::timeout);
  EXPECT_FALSE(wrong.ledger.complete);
  EXPECT_EQ(wrong.ledger.credited, 0U);
  EXPECT_EQ(wrong.bytes[1024 + 8], poison_byte({.seed = 11}, 1024 + 8));
}

}  // namespace
}  // namespace tidemark::kernels
