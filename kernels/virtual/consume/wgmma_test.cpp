// Where a descriptor finds elements, held against the layouts that the PTX ISA prints, and what
// their bits mean.
#include "kernels/virtual/consume/wgmma.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tidemark::kernels {
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

TEST(AccumulatorBits, AreAnF32OrTheLow32BitsOfTheSum) {
  EXPECT_EQ(accumulator_bits(MmaType::f16, -2.0, kNoFault), 0xc0000000);
  EXPECT_EQ(accumulator_bits(MmaType::s8, -2.0, kNoFault), 0xfffffffe);
}

}  // namespace
}  // namespace tidemark::kernels
