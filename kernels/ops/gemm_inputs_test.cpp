// fp16 is rounded here and in no library: held against numbers of IEEE 754.
#include "kernels/ops/gemm_inputs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tidemark {
namespace {

TEST(Fp16, OneAndTheLargest) {
  EXPECT_EQ(to_f16(1.0F), 0x3c00);
  EXPECT_EQ(to_f16(-2.0F), 0xc000);
  EXPECT_EQ(to_f16(65504.0F), 0x7bff);
}

TEST(Fp16, TiesGoToEven) {
  EXPECT_EQ(to_f16(2049.0F), 0x6800);  // 2048, not 2050
  EXPECT_EQ(to_f16(2051.0F), 0x6802);  // 2052, not 2050
}

TEST(Fp16, BeyondTheLargestIsInfinityFromHalfAPlaceOn) {
  EXPECT_EQ(to_f16(65519.9F), 0x7bff);
  EXPECT_EQ(to_f16(65520.0F), 0x7c00);
  EXPECT_EQ(to_f16(-1e30F), 0xfc00);
}

TEST(Fp16, SmallestNumbersAreMultiplesOfTwoToTheMinus24) {
  EXPECT_EQ(to_f16(0x1p-24F), 0x0001);
  EXPECT_EQ(to_f16(0x1p-25F), 0x0000);
  EXPECT_EQ(to_f16(0x1.8p-24F), 0x0002);
  EXPECT_EQ(to_f16(0x1p-14F), 0x0400);
}

TEST(Fp16, WhatIsNoNumberStaysNone) {
  EXPECT_TRUE(std::isnan(from_f16(to_f16(std::numeric_limits<float>::quiet_NaN()))));
  EXPECT_TRUE(std::isinf(from_f16(0x7c00)));
}

TEST(Fp16, EveryNumberSurvivesTheWayThere) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    if ((half & 0x7c00) == 0x7c00) continue;
    EXPECT_EQ(to_f16(from_f16(half)), half);
  }
}

TEST(GemmElements, AreTheSameNumberInBothTypesWhereItIsAnInteger) {
  for (std::uint64_t k = 0; k < 100; ++k)
    EXPECT_EQ(from_bf16(gemm_element(GemmInputs::small_integers, GemmOperand::a, 3, 5, k)),
              from_f16(gemm_element(GemmInputs::small_integers, GemmOperand::a, 3, 5, k,
                                    GemmElement::f16)));
}

TEST(GemmElements, OfCAreNotThoseOfA) {
  int same = 0;
  for (std::uint64_t k = 0; k < 100; ++k)
    same += gemm_value(GemmInputs::normal, GemmOperand::a, 3, 5, k) ==
                    gemm_value(GemmInputs::normal, GemmOperand::c, 3, 5, k)
                ? 1
                : 0;
  EXPECT_LT(same, 5);
}

}  // namespace
}  // namespace tidemark
