// wgmma of programs: where a descriptor finds elements, held against the layouts that the PTX ISA
// prints, what their bits mean, and products worked out by loops; and its faults.
#include "kernels/virtual/program/program_run.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/error.hpp"
#include "kernels/ops/tile_consume.hpp"
#include "kernels/virtual/program/program.hpp"

namespace tidemark {
namespace {

// PTX ISA 9.0, figure 166: ((8,2),(4,4)):((4,32),(1,64)), in elements of four bytes.
TEST(ElementAddress, KMajorUnswizzledTf32IsThatOfFigure166) {
  const MatrixDescriptor d{.start = 1024, .leading = 256, .stride = 128};
  for (std::uint32_t m = 0; m < 16; ++m)
    for (std::uint32_t k = 0; k < 8; ++k)
      ASSERT_EQ(element_address(d, Major::k, 4, m, k, kNoFault),
                1024 + 4 * (m % 8 * 4 + m / 8 * 32 + k % 4 + k / 4 * 64))
          << m << ", " << k;
}

// Figure 167: Swizzle<1,4,3> of ((8,2),(4,2)):((8,64),(1,4)): bit 4 changes where bit 7 is set.
TEST(ElementAddress, KMajorTf32In32ByteRowsIsThatOfFigure167) {
  const MatrixDescriptor d{.start = 1024, .leading = 16, .stride = 256, .swizzle = Swizzle::b32};
  for (std::uint32_t m = 0; m < 16; ++m)
    for (std::uint32_t k = 0; k < 8; ++k) {
      const std::uint32_t byte = 4 * (m % 8 * 8 + m / 8 * 64 + k % 4 + k / 4 * 4);
      const std::uint32_t turned = (byte & 128U) != 0 ? byte ^ 16U : byte;
      ASSERT_EQ(element_address(d, Major::k, 4, m, k, kNoFault), 1024 + turned) << m << ", " << k;
    }
}

// Figure 168: ((8,1,2),(8,2)):((1,8,64),(8,128)), in elements of two bytes.
TEST(ElementAddress, MnMajorUnswizzledBf16IsThatOfFigure168) {
  const MatrixDescriptor d{.start = 2048, .leading = 256, .stride = 128};
  for (std::uint32_t m = 0; m < 16; ++m)
    for (std::uint32_t k = 0; k < 16; ++k)
      ASSERT_EQ(element_address(d, Major::mn, 2, m, k, kNoFault),
                2048 + 2 * (m % 8 + m / 8 * 64 + k % 8 * 8 + k / 8 * 128))
          << m << ", " << k;
}

// Figure 170: Swizzle<2,4,3> of ((8,4,2),(8,2)):((1,8,256),(32,512)): bits 4 and 5 change by 7, 8.
TEST(ElementAddress, MnMajorBf16In64ByteRowsIsThatOfFigure170) {
  const MatrixDescriptor d{.start = 4096, .leading = 512, .stride = 1024, .swizzle = Swizzle::b64};
  for (std::uint32_t m = 0; m < 64; ++m)
    for (std::uint32_t k = 0; k < 16; ++k) {
      const std::uint32_t byte = 2 * (m % 32 + m / 32 * 256 + k % 8 * 32 + k / 8 * 512);
      std::uint32_t turned = byte;
      if ((byte & 128U) != 0) turned ^= 16U;
      if ((byte & 256U) != 0) turned ^= 32U;
      ASSERT_EQ(element_address(d, Major::mn, 2, m, k, kNoFault), 4096 + turned) << m << ", " << k;
    }
}

TEST(ElementAddress, ARowOffTheStartOfThePatternIsTurnedByItsAddress) {
  // Row 0 at 1408 is row 3 of the pattern: its first 16 bytes stand in chunk 3.
  const MatrixDescriptor d{.start = 1408, .stride = 1024, .swizzle = Swizzle::b128};
  EXPECT_EQ(element_address(d, Major::k, 2, 0, 0, kNoFault), 1408 + 48);
}

TEST(ElementAddress, TheBaseOffsetIsTheRowWhereThePatternStarts) {
  const MatrixDescriptor d{
      .start = 1408, .stride = 1024, .base_offset = 3, .swizzle = Swizzle::b128};
  EXPECT_EQ(element_address(d, Major::k, 2, 0, 0, kNoFault), 1408);
  EXPECT_EQ(element_address(d, Major::k, 2, 1, 0, kNoFault), 1536 + 16);
}

TEST(ValueOf, ReadsEachFormat) {
  EXPECT_EQ(value_of(MmaType::f16, 0xc700, kNoFault), -7);
  EXPECT_EQ(value_of(MmaType::bf16, 0x4040, kNoFault), 3);
  EXPECT_EQ(value_of(MmaType::tf32, 0x3f800000, kNoFault), 1);
  EXPECT_EQ(value_of(MmaType::e4m3, 0xc4, kNoFault), -3);
  EXPECT_EQ(value_of(MmaType::e5m2, 0x41, kNoFault), 2.5);
  EXPECT_EQ(value_of(MmaType::s8, 0x80, kNoFault), -128);
  EXPECT_EQ(value_of(MmaType::u8, 0x80, kNoFault), 128);
}

TEST(ValueOf, ReadsTheEndsOfTheFormats) {
  EXPECT_EQ(value_of(MmaType::f16, 0x0001, kNoFault), std::ldexp(1.0, -24));
  EXPECT_EQ(value_of(MmaType::e4m3, 0x7e, kNoFault), 448);  // its largest, where others have NaNs
  EXPECT_TRUE(std::isnan(value_of(MmaType::e4m3, 0x7f, kNoFault)));
  EXPECT_TRUE(std::isinf(value_of(MmaType::e5m2, 0x7c, kNoFault)));
}

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

RunResult run(const TileConsume& op, Fault fault = kNoFault) {
  return run_virtual_program(program_of(op), fault);
}

template <typename Number>
Number c_at(const TileConsume& op, const RunResult& result, std::size_t element) {
  Number value{};
  std::memcpy(&value, &result.bytes.at(product_offset(wgmma_of(op)) + 4 * element), 4);
  return value;
}

TEST(VirtualWgmma, MultipliesKMajorBf16In128ByteRows) {
  // A: 64 rows, 144 bytes apart; B starts 10240 bytes behind it.
  const TileConsume op = alike(MmaType::bf16, Major::k, Swizzle::b128, 32, 64);
  const RunResult result = run(op);
  ASSERT_EQ(result.fault, DeviceFault::none);
  for (std::uint64_t m = 0; m < 64; ++m)
    for (std::uint64_t n = 0; n < 32; ++n) {
      int sum = 0;
      for (std::uint64_t k = 0; k < 64; ++k)
        sum += (static_cast<int>(hash_at(1024 + 144 * m + 2 * k) & 15) - 8) *
               (static_cast<int>(hash_at(1024 + 10240 + 144 * n + 2 * k) & 15) - 8);
      ASSERT_EQ(c_at<float>(op, result, 32 * m + n), static_cast<float>(sum)) << m << ", " << n;
    }
}

TEST(VirtualWgmma, MultipliesMnMajorF16OfTwoSpans) {
  // A: 32 rows (k), 144 bytes apart; B: 32 rows of 128, 272 bytes apart, 5632 bytes behind A.
  const TileConsume op = alike(MmaType::f16, Major::mn, Swizzle::b128, 128, 32);
  const RunResult result = run(op);
  for (std::uint64_t m = 0; m < 64; ++m)
    for (std::uint64_t n = 0; n < 128; ++n) {
      int sum = 0;
      for (std::uint64_t k = 0; k < 32; ++k)
        sum += (static_cast<int>(hash_at(1024 + 144 * k + 2 * m) & 15) - 8) *
               (static_cast<int>(hash_at(1024 + 5632 + 272 * k + 2 * n) & 15) - 8);
      ASSERT_EQ(c_at<float>(op, result, 128 * m + n), static_cast<float>(sum)) << m << ", " << n;
    }
}

TEST(VirtualWgmma, MultipliesUnswizzledS8) {
  const TileConsume op = alike(MmaType::s8, Major::k, Swizzle::none, 16, 64);
  const RunResult result = run(op);
  for (std::uint64_t m = 0; m < 64; ++m)
    for (std::uint64_t n = 0; n < 16; ++n) {
      std::int32_t sum = 0;
      for (std::uint64_t k = 0; k < 64; ++k)
        sum += static_cast<std::int8_t>(hash_at(1024 + 80 * m + k) & 255) *
               static_cast<std::int8_t>(hash_at(1024 + 6144 + 80 * n + k) & 255);
      ASSERT_EQ(c_at<std::int32_t>(op, result, 16 * m + n), sum) << m << ", " << n;
    }
}

TEST(VirtualWgmma, ADescriptorOfAnotherSwizzleGivesAnotherResult) {
  TileConsume op = alike(MmaType::bf16, Major::k, Swizzle::b128, 32, 64);
  const RunResult right = run(op);
  op.a.read_as = Swizzle::b64;
  EXPECT_NE(run(op).bytes, right.bytes);
}

TEST(VirtualWgmma, AProductThatIsNotThereIsRefused) {
  Program program = program_of(alike(MmaType::f16, Major::k, Swizzle::b64, 8, 32));
  program.products.clear();
  EXPECT_THROW((void)run_virtual_program(program, kNoFault), Error);
}

TEST(VirtualWgmma, COverATileIsRefused) {
  Program program = program_of(alike(MmaType::f16, Major::k, Swizzle::b64, 8, 32));
  for (Step& step : program.steps)
    if (step.verb == Verb::wgmma) step.offset = program.products[0].b.offset;
  EXPECT_THROW((void)run_virtual_program(program, kNoFault), Error);
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
  return run(op, fault).bytes != run(op).bytes;
}

TEST(WgmmaFaults, ThereAreAtLeastTwelve) { EXPECT_GE(tile_consume_faults().size(), 12U); }

TEST(WgmmaFaults, ValuesAscendFrom600To699) {
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

TEST(WgmmaFaults, EachIsSeenOnSomeRow) {
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

TEST(WgmmaFaults, AreHarmlessWhereTheirStepDoesNotOccur) {
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

}  // namespace tidemark
