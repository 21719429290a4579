// Every fault of a tile load must show in some program, and none where its step does not occur.
#include "kernels/virtual/copies/tile_load_faults.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/ops/barriers.hpp"
#include "kernels/ops/program/checks.hpp"
#include "kernels/virtual/program/program.hpp"

namespace tidemark {
namespace {

// The windows that a load hands out: behind each of its two copies, at its end, and behind the
// exact copy of the checks.
constexpr std::size_t kWindows = 4;
constexpr std::size_t kWindow = 1024 + 128 + 1024;  // of plainest()

RunResult run(const TileLoad& load, Fault fault = kNoFault) {
  return run_virtual_program(with_checks(program_of(load)), fault);
}

bool differ(const RunResult& a, const RunResult& b) {
  return a.fault != b.fault || a.code != b.code || a.bytes != b.bytes ||
         a.surroundings != b.surroundings || a.trace != b.trace;
}

bool is_visible(Fault fault, const Program& program) {
  return differ(run_virtual_program(program, fault), run_virtual_program(program, kNoFault));
}

bool is_visible(Fault fault, const TileLoad& load) {
  return is_visible(fault, with_checks(program_of(load)));
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

// Two of its four rows behind the last mapped byte.
TileLoad over_the_last_byte() {
  TileLoad load = row({.extent = {64, 64}, .stride = {64}, .box = {32, 4}}, {0, 62});
  load.source = MemorySource::edge;
  return load;
}

TileLoad cold() {
  TileLoad load = row({.extent = {64, 64}, .stride = {64}, .box = {32, 4}}, {0, 60});
  load.cold = true;
  return load;
}

// f32, 13 x 5: over the right edge, inside a chunk, and below.
TileLoad over_the_edge() {
  return row({.type = DataType::f32, .extent = {13, 5}, .stride = {64}, .box = {16, 4}}, {4, 3});
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
      over_the_edge(),
      // The same tensor before the left edge and above; over the right edge alone.
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
      over_the_last_byte(),
      cold(),
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
      // Bulk: seven pieces of 16 bytes, to 16 behind a multiple of 128.
      row({.rank = 1, .extent = {256}, .box = {112}, .bulk = true}, {64}, 16),
      // Behind 64 KiB and behind 128 KiB of shared memory.
      row({.extent = {64, 8}, .stride = {64}, .box = {32, 4}}, {0, 0}, 80 * 1024),
      row({.extent = {64, 8}, .stride = {64}, .box = {32, 4}}, {0, 0}, 160 * 1024),
      // Sixteen rows of 32 bytes in the upper half, and rows of 2,048 bytes.
      row({.extent = {64, 16}, .stride = {64}, .box = {32, 16}, .swizzle = Swizzle::b32}, {0, 0},
          120 * 1024),
      row({.type = DataType::u64, .extent = {256, 2}, .stride = {2048}, .box = {256, 2}}, {0, 0}),
  };
}

// Rows 2^32 and 2^36 bytes apart, and a box beyond the first 2^32 bytes.
std::vector<TileLoad> far_rows() {
  constexpr std::uint64_t kBit32 = std::uint64_t{1} << 32;
  std::vector<TileLoad> rows{
      row({.extent = {64, 3}, .stride = {kBit32 + 4096}, .box = {64, 2}}, {0, 1}),
      row({.extent = {64, 3}, .stride = {16 * kBit32 + 4096}, .box = {64, 2}}, {0, 1}),
      row({.extent = {64, kBit32 / 2}, .stride = {64}, .box = {64, 4}}, {0, 1 << 27}),
      row({.extent = {64, kBit32}, .stride = {64}, .box = {64, 4}}, {0, 1 << 27}),  // illegal
  };
  for (TileLoad& far : rows) far.source = MemorySource::mapped;
  return rows;
}

// `load` announced as 16 bytes more than it brings. Its wait in vain does not stop the program, so
// that a meter counts what was credited.
Program over_announced(const TileLoad& load) {
  return with_checks(program_of(ExpectTx{.load = load, .announced = tile_bytes(load.map) + 16}));
}

// A load by a map of `type` of words of any kind: subnormal, NaN, halfway between two numbers of
// tf32.
Program of_any_words(DataType type) {
  Program program = with_checks(program_of(
      row({.type = type, .extent = {256, 200}, .stride = {1024}, .box = {256, 200}}, {0, 0})));
  program.regions[0].element = DataType::f32;
  return program;
}

std::vector<Program> programs() {
  std::vector<Program> all;
  for (const TileLoad& load : rows()) all.push_back(with_checks(program_of(load)));
  for (const TileLoad& load : far_rows()) all.push_back(with_checks(program_of(load)));
  all.push_back(over_announced(plainest()));
  all.push_back(over_announced(over_the_edge()));
  for (const DataType type : {DataType::f32_ftz, DataType::tf32_ftz})
    all.push_back(of_any_words(type));
  return all;
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

TEST(TileLoadFaults, EachShowsInSomeProgram) {
  const std::vector<Program> all = programs();
  for (const FaultInfo& info : tile_load_faults())
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const Program& program) {
      return is_visible(info.fault, program);
    })) << info.name;
}

TEST(TileLoadFaults, NoTwoDoTheSameInEveryProgram) {
  const std::vector<Program> all = programs();
  const auto faults = tile_load_faults();
  for (std::size_t i = 0; i < faults.size(); ++i)
    for (std::size_t j = i + 1; j < faults.size(); ++j)
      EXPECT_TRUE(std::any_of(all.begin(), all.end(),
                              [&](const Program& program) {
                                return differ(run_virtual_program(program, faults[i].fault),
                                              run_virtual_program(program, faults[j].fault));
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
  const RunResult result = run(over_the_edge(), kFaultUpperInnerRounded);
  // Element 13 of row 3 stands at column 9 of the tile and is no part of the tensor.
  EXPECT_EQ(result.bytes[1024 + 9 * 4], source_byte({.seed = 11}, 1024 + 3 * 64 + 13 * 4));
  EXPECT_EQ(result.bytes[1024 + 13 * 4 - 4], 0);
}

TEST(TileLoadFaults, CreditBeforeTheLastChunkLeavesPoisonInSixteenBytes) {
  const RunResult right = run(plainest());
  const RunResult wrong = run(plainest(), kFaultCreditBeforeLastChunk);
  EXPECT_EQ(wrong.fault, DeviceFault::none);
  EXPECT_EQ(wrong.trace, right.trace);
  std::size_t unlike = 0;
  for (std::size_t i = 0; i < kWindow; ++i) unlike += right.bytes[i] != wrong.bytes[i] ? 1 : 0;
  EXPECT_GE(unlike, 14U);
  EXPECT_LE(unlike, 16U);
}

TEST(TileLoadFaults, BitFlippedChangesOneBitOfEachWindow) {
  RunResult wrong = run(plainest(), kFaultBitFlipped);
  for (std::size_t i = 0; i < kWindows; ++i) wrong.bytes[kWindow * i + 1024 + 128 - 16 + 5] ^= 0x08;
  EXPECT_EQ(wrong.bytes, run(plainest()).bytes);
}

TEST(TileLoadFaults, BitFlippedLeavesFillAlone) {
  EXPECT_FALSE(is_visible(kFaultBitFlipped, row({.rank = 1, .extent = {16}, .box = {16}}, {16})));
}

TEST(TileLoadFaults, WritesBehindTouchesOnlyTheGuard) {
  const RunResult right = run(plainest());
  RunResult wrong = run(plainest(), kFaultWritesBehind);
  for (std::size_t i = 0; i < kWindows; ++i) {
    std::uint8_t* const behind = &wrong.bytes[kWindow * i + 1024 + 128];
    EXPECT_NE(behind[0], poison_byte({.seed = 11}, 1024 + 128)) << i;
    std::copy_n(&right.bytes[kWindow * i + 1024 + 128], 16, behind);
  }
  EXPECT_EQ(wrong.bytes, right.bytes);
}

// plainest(), off 128 bytes by `offset` in shared memory.
TileLoad misaligned(std::uint32_t offset) {
  TileLoad load = plainest();
  load.destination_offset = offset;
  return load;
}

TEST(TileLoadFaults, RoundedDownPutsTheTileOnThe128Below) {
  const RunResult wrong = run(misaligned(64), kFaultMisalignedRoundedDown);
  ASSERT_EQ(wrong.fault, DeviceFault::none);
  const RunResult at_zero = run(misaligned(0));
  EXPECT_TRUE(std::equal(at_zero.bytes.begin() + 1024, at_zero.bytes.begin() + 1024 + 128,
                         wrong.bytes.begin() + 1024));
}

TEST(TileLoadFaults, AlignmentTo16TakesSixteenAndRefusesEight) {
  EXPECT_EQ(run(misaligned(16), kFaultMisalignedTo16).fault, DeviceFault::none);
  EXPECT_EQ(run(misaligned(8), kFaultMisalignedTo16).code, 716);
}

TEST(TileLoadFaults, OtherErrorsAreStickyToo) {
  TileLoad load = plainest();
  load.at[0] = -1;
  const RunResult inner = run(load, kFaultIllegalAs700);
  EXPECT_EQ(inner.fault, DeviceFault::sticky);
  EXPECT_EQ(inner.code, 700);
  EXPECT_EQ(inner.note, "illegal address: inner coordinate -1 of u8 is off 16 bytes");
  const RunResult shared = run(misaligned(32), kFaultMisalignedAs719);
  EXPECT_EQ(shared.fault, DeviceFault::sticky);
  EXPECT_EQ(shared.code, 719);
}

TEST(TileLoadFaults, InnerCoordinatesAreRoundedDownBelowZeroToo) {
  TileLoad load = plainest();
  load.at[0] = -1;
  const RunResult wrong = run(load, kFaultInnerRoundedDown);
  load.at[0] = -16;
  EXPECT_EQ(wrong.bytes, run(load).bytes);
}

TEST(TileLoadFaults, ALostErrorLeavesPoisonAndAWaitThatEndsByItsBound) {
  const RunResult wrong = run(misaligned(8), kFaultErrorLost);
  ASSERT_EQ(wrong.fault, DeviceFault::timeout);
  EXPECT_EQ(wrong.note, "step 5: the wait of CTA 0 on barrier 0 ended by its bound");
  EXPECT_EQ(wrong.bytes[1024 + 8], poison_byte({.seed = 11}, 1024 + 8));
}

TEST(TileLoadFaults, CreditLateNeedsAMeterThatTakesSomethingOff) {
  EXPECT_FALSE(is_visible(kFaultCreditLate, plainest()));
  EXPECT_TRUE(is_visible(kFaultCreditLate, over_announced(plainest())));
}

}  // namespace
}  // namespace tidemark
