// Tiles that are loaded and multiplied, and their faults.
#include "kernels/virtual/consume/tile_consume.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/error.hpp"
#include "kernels/ops/tile_consume.hpp"
#include "kernels/virtual/copies/faults/tile_load_faults.hpp"

namespace tidemark::kernels {
namespace {

TileConsume alike(MmaType type, Major major, Swizzle swizzle, std::uint32_t n, std::uint32_t k) {
  return {.type = type,
          .n = n,
          .k = k,
          .a = {.major = major, .swizzle = swizzle, .read_as = swizzle},
          .b = {.major = major, .swizzle = swizzle, .read_as = swizzle},
          .extent = {64, n, k},
          .payload = {.seed = 21}};
}

std::uint64_t hash_at(std::uint64_t offset) {
  return source_word({.seed = 21}, offset / 8) >> (8 * (offset % 8));
}

template <typename Number>
Number c_at(const RunResult& result, std::size_t element) {
  Number value{};
  std::memcpy(&value, &result.bytes.at(1024 + 4 * element), 4);
  return value;
}

TEST(VirtualTileConsume, MultipliesKMajorBf16In128ByteRows) {
  // A: 64 rows, 144 bytes apart; B starts 10240 bytes behind it.
  const RunResult result =
      run_virtual_tile_consume(alike(MmaType::bf16, Major::k, Swizzle::b128, 32, 64), kNoFault);
  ASSERT_EQ(result.fault, DeviceFault::none);
  for (std::uint64_t m = 0; m < 64; ++m)
    for (std::uint64_t n = 0; n < 32; ++n) {
      int sum = 0;
      for (std::uint64_t k = 0; k < 64; ++k)
        sum += (static_cast<int>(hash_at(1024 + 144 * m + 2 * k) & 15) - 8) *
               (static_cast<int>(hash_at(1024 + 10240 + 144 * n + 2 * k) & 15) - 8);
      ASSERT_EQ(c_at<float>(result, 32 * m + n), static_cast<float>(sum)) << m << ", " << n;
    }
}

TEST(VirtualTileConsume, MultipliesMnMajorF16OfTwoSpans) {
  // A: 32 rows (k), 144 bytes apart; B: 32 rows of 128, 272 bytes apart, 5632 bytes behind A.
  const RunResult result =
      run_virtual_tile_consume(alike(MmaType::f16, Major::mn, Swizzle::b128, 128, 32), kNoFault);
  for (std::uint64_t m = 0; m < 64; ++m)
    for (std::uint64_t n = 0; n < 128; ++n) {
      int sum = 0;
      for (std::uint64_t k = 0; k < 32; ++k)
        sum += (static_cast<int>(hash_at(1024 + 144 * k + 2 * m) & 15) - 8) *
               (static_cast<int>(hash_at(1024 + 5632 + 272 * k + 2 * n) & 15) - 8);
      ASSERT_EQ(c_at<float>(result, 128 * m + n), static_cast<float>(sum)) << m << ", " << n;
    }
}

TEST(VirtualTileConsume, MultipliesUnswizzledS8) {
  const RunResult result =
      run_virtual_tile_consume(alike(MmaType::s8, Major::k, Swizzle::none, 16, 64), kNoFault);
  for (std::uint64_t m = 0; m < 64; ++m)
    for (std::uint64_t n = 0; n < 16; ++n) {
      std::int32_t sum = 0;
      for (std::uint64_t k = 0; k < 64; ++k)
        sum += static_cast<std::int8_t>(hash_at(1024 + 80 * m + k) & 255) *
               static_cast<std::int8_t>(hash_at(1024 + 6144 + 80 * n + k) & 255);
      ASSERT_EQ(c_at<std::int32_t>(result, 16 * m + n), sum) << m << ", " << n;
    }
}

TEST(VirtualTileConsume, ADescriptorOfAnotherSwizzleGivesAnotherResult) {
  TileConsume op = alike(MmaType::bf16, Major::k, Swizzle::b128, 32, 64);
  const RunResult right = run_virtual_tile_consume(op, kNoFault);
  op.a.read_as = Swizzle::b64;
  EXPECT_NE(run_virtual_tile_consume(op, kNoFault).bytes, right.bytes);
}

TEST(VirtualTileConsume, LeavesPoisonAroundC) {
  const RunResult result =
      run_virtual_tile_consume(alike(MmaType::f16, Major::k, Swizzle::b64, 8, 32), kNoFault);
  ASSERT_EQ(result.bytes.size(), 1024U + 2048 + 1024);
  for (std::uint32_t i = 0; i < 1024; ++i) {
    ASSERT_EQ(result.bytes[i], poison_byte({.seed = 21}, i));
    ASSERT_EQ(result.bytes[3072 + i], poison_byte({.seed = 21}, 3072 + i));
  }
}

TEST(VirtualTileConsume, AnnouncesBothTilesAtOnce) {
  const BarrierLedger ledger =
      run_virtual_tile_consume(alike(MmaType::f16, Major::k, Swizzle::b64, 8, 32), kNoFault).ledger;
  EXPECT_FALSE(ledger.complete_before_issue);
  EXPECT_TRUE(ledger.complete);
  EXPECT_FALSE(ledger.next_complete_early);
  EXPECT_EQ(ledger.announced, 64U * 64 + 8 * 64);
}

TEST(VirtualTileConsume, AWaitThatEndsByItsBoundLeavesTheResultPoison) {
  const RunResult result = run_virtual_tile_consume(
      alike(MmaType::f16, Major::k, Swizzle::b64, 8, 32), kFaultCreditShort);
  EXPECT_EQ(result.fault, DeviceFault::timeout);
  EXPECT_FALSE(result.ledger.complete);
  for (std::uint32_t i = 0; i < 4096; ++i)
    ASSERT_EQ(result.bytes[i], poison_byte({.seed = 21}, i)) << i;
}

TEST(VirtualTileConsume, AnInnerCoordinateOffSixteenBytesIsSticky) {
  TileConsume op = alike(MmaType::f16, Major::k, Swizzle::b64, 8, 32);
  op.at = {0, 0, 4};
  EXPECT_EQ(run_virtual_tile_consume(op, kNoFault).fault, DeviceFault::sticky);
}

TEST(VirtualTileConsume, RefusesAShapeWithoutAnInstruction) {
  EXPECT_THROW(
      (void)run_virtual_tile_consume(alike(MmaType::f16, Major::k, Swizzle::b64, 24, 32), kNoFault),
      Error);
}

}  // namespace

namespace {

TileConsume row(MmaType type, Major major, Swizzle swizzle, std::uint32_t k,
                std::uint32_t base_offset = 0) {
  return {.type = type,
          .n = 64,
          .k = k,
          .a = {.major = major, .swizzle = swizzle, .read_as = swizzle, .base_offset = base_offset},
          .b = {.major = major, .swizzle = swizzle, .read_as = swizzle},
          .extent = {64, 64, k},
          .payload = {.seed = 11}};
}

bool is_visible(Fault fault, const TileConsume& op) {
  return run_virtual_tile_consume(op, fault).bytes != run_virtual_tile_consume(op, kNoFault).bytes;
}

TEST(TileConsumeFaults, ThereAreAtLeastTwelve) { EXPECT_GE(tile_consume_faults().size(), 12U); }

TEST(TileConsumeFaults, ValuesAscendFrom600To699) {
  std::uint32_t before = 600;
  for (const FaultInfo& info : tile_consume_faults()) {
    const auto value = static_cast<std::uint32_t>(info.fault);
    EXPECT_GT(value, before) << info.name;
    EXPECT_LT(value, 700U) << info.name;
    EXPECT_EQ(info.op, OpKind::tile_consume) << info.name;
    EXPECT_EQ(info.name.substr(0, 8), "consume_") << info.name;
    before = value;
  }
}

TEST(TileConsumeFaults, EachIsSeenOnSomeRow) {
  const std::vector<TileConsume> rows{row(MmaType::bf16, Major::k, Swizzle::b128, 128),
                                      row(MmaType::f16, Major::mn, Swizzle::b32, 32),
                                      row(MmaType::s8, Major::k, Swizzle::b64, 64),
                                      row(MmaType::u8, Major::k, Swizzle::none, 64),
                                      row(MmaType::e5m2, Major::k, Swizzle::b128, 128),
                                      row(MmaType::bf16, Major::k, Swizzle::b128, 64, 3)};
  for (const FaultInfo& info : tile_consume_faults())
    EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [&](const TileConsume& op) {
      return is_visible(info.fault, op);
    })) << info.name;
}

TEST(TileConsumeFaults, AreHarmlessWhereTheirStepDoesNotOccur) {
  // One step, unswizzled, K-major, f16, base offset 0.
  const TileConsume plainest = row(MmaType::f16, Major::k, Swizzle::none, 16);
  for (const Fault fault :
       {kFaultConsumeSwizzleIgnored, kFaultConsumeSwizzleNarrower, kFaultConsumeSwizzleWider,
        kFaultConsumeSwizzleRelative, kFaultConsumeBaseOffsetIgnored, kFaultConsumeBaseOffsetAdded,
        kFaultConsumeReadAsWritten, kFaultConsumeZeroOnMismatch, kFaultConsumeMnAsK,
        kFaultConsumeAdvanceMissing, kFaultConsumeAdvanceHalved, kFaultConsumeSignLost,
        kFaultConsumeUnsignedAsSigned, kFaultConsumeBf16AsF16, kFaultConsumeE5m2AsE4m3,
        kFaultConsumeSaturatesAt16})
    EXPECT_FALSE(is_visible(fault, plainest)) << static_cast<std::uint32_t>(fault);
}

}  // namespace

}  // namespace tidemark::kernels
