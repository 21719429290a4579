// fp16 and fp8 are rounded here and in no library: held against numbers of IEEE 754 and of the OCP
// specification.
#include "kernels/ops/gemm/gemm_inputs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <vector>

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

TEST(E4m3, OneAndTheLargest) {
  EXPECT_EQ(to_e4m3(1.0F), 0x38);
  EXPECT_EQ(to_e4m3(-3.0F), 0xc4);
  EXPECT_EQ(to_e4m3(448.0F), 0x7e);
}

TEST(E4m3, TiesGoToEven) {
  EXPECT_EQ(to_e4m3(17.0F), 0x58);  // 16, not 18
  EXPECT_EQ(to_e4m3(19.0F), 0x5a);  // 20, not 18
}

TEST(E4m3, SaturatesBeyondTheLargest) {
  EXPECT_EQ(to_e4m3(1e9F), 0x7e);
  EXPECT_EQ(to_e4m3(-std::numeric_limits<float>::infinity()), 0xfe);
}

TEST(E4m3, SmallestNumbersAreMultiplesOfTwoToTheMinus9) {
  EXPECT_EQ(to_e4m3(0x1p-9F), 0x01);
  EXPECT_EQ(to_e4m3(0x1p-10F), 0x00);
  EXPECT_EQ(to_e4m3(0x1.8p-9F), 0x02);
  EXPECT_EQ(to_e4m3(0x1p-6F), 0x08);
  EXPECT_EQ(from_e4m3(0x03), 0x1.8p-8F);
}

TEST(E4m3, HasNoInfinitiesAndOneNan) {
  EXPECT_EQ(from_e4m3(0x7e), 448.0F);
  EXPECT_TRUE(std::isnan(from_e4m3(0x7f)));
  EXPECT_TRUE(std::isnan(from_e4m3(0xff)));
  EXPECT_EQ(to_e4m3(std::numeric_limits<float>::quiet_NaN()), 0x7f);
}

TEST(E4m3, EveryNumberSurvivesTheWayThere) {
  for (std::uint16_t bits = 0; bits < 0x100; ++bits)
    if ((bits & 0x7f) != 0x7f) {
      EXPECT_EQ(to_e4m3(from_e4m3(bits)), bits);
    }
}

TEST(E5m2, OneAndTheLargest) {
  EXPECT_EQ(to_e5m2(1.0F), 0x3c);
  EXPECT_EQ(to_e5m2(-3.0F), 0xc2);
  EXPECT_EQ(to_e5m2(57344.0F), 0x7b);
}

TEST(E5m2, TiesGoToEven) {
  EXPECT_EQ(to_e5m2(9.0F), 0x48);   // 8, not 10
  EXPECT_EQ(to_e5m2(11.0F), 0x4a);  // 12, not 10
}

TEST(E5m2, IsRoundedOnceNotThroughFp16) { EXPECT_EQ(to_e5m2(0x1.2001p0F), 0x3d); }

TEST(E5m2, SaturatesBeyondTheLargest) { EXPECT_EQ(to_e5m2(-1e9F), 0xfb); }

TEST(E5m2, SmallestNumbersAreMultiplesOfTwoToTheMinus16) {
  EXPECT_EQ(to_e5m2(0x1p-16F), 0x01);
  EXPECT_EQ(to_e5m2(0x1p-17F), 0x00);
  EXPECT_EQ(to_e5m2(0x1.8p-16F), 0x02);
  EXPECT_EQ(to_e5m2(0x1p-14F), 0x04);
}

TEST(E5m2, HasInfinitiesAndNans) {
  EXPECT_EQ(from_e5m2(0xfc), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(from_e5m2(0x7d)));
  EXPECT_TRUE(std::isnan(from_e5m2(0xff)));
}

TEST(E5m2, EveryNumberSurvivesTheWayThere) {
  for (std::uint16_t bits = 0; bits < 0x100; ++bits)
    if ((bits & 0x7c) != 0x7c) {
      EXPECT_EQ(to_e5m2(from_e5m2(bits)), bits);
    }
}

TEST(GemmElements, PlantedInFp8AreWhatTheySay) {
  EXPECT_TRUE(std::isnan(from_e4m3(to_element(GemmElement::e4m3, NonFinite::nan))));
  EXPECT_TRUE(std::isnan(from_e5m2(to_element(GemmElement::e5m2, NonFinite::nan))));
  EXPECT_EQ(from_e5m2(to_element(GemmElement::e5m2, NonFinite::minus_infinity)),
            -std::numeric_limits<float>::infinity());
}

TEST(GemmElements, SmallIntegersAndOctalDigitsAreExactInEveryType) {
  for (const GemmElement element :
       {GemmElement::bf16, GemmElement::f16, GemmElement::e4m3, GemmElement::e5m2})
    for (const float value : {-3.0F, -2.0F, -1.0F, 0.0F, 1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F, 7.0F})
      EXPECT_EQ(from_element(element, to_element(element, value)), value) << name_of(element);
}

TEST(GemmElements, OctalDigitsAreAllOfThem) {
  std::set<float> digits;
  for (std::uint64_t k = 0; k < 100; ++k)
    digits.insert(gemm_value(GemmInputs::octal_digits, GemmOperand::b, 3, 5, k));
  EXPECT_EQ(digits, (std::set<float>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(GemmElements, APermutationHasOneOneInEachRowAndColumn) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    std::vector<int> in_row(192), in_column(192);
    for (std::uint64_t n = 0; n < 192; ++n)
      for (std::uint64_t k = 0; k < 192; ++k) {
        const float value = gemm_value(GemmInputs::permutation, GemmOperand::b, seed, n, k);
        in_column[n] += value == 1;
        in_row[k] += value == 1;
        EXPECT_TRUE(value == 0 || value == 1);
      }
    EXPECT_EQ(in_row, std::vector<int>(192, 1));
    EXPECT_EQ(in_column, std::vector<int>(192, 1));
  }
}

TEST(GemmElements, SeedsPermuteInDifferentWays) {
  std::set<std::uint64_t> first;
  for (std::uint64_t seed = 0; seed < 100; ++seed) first.insert(permuted_k(seed, 0));
  EXPECT_GT(first.size(), 40U);
}

TEST(GemmElements, WhatIsPermutedIsExactInBf16AndFp16) {
  std::set<float> values;
  for (std::uint64_t k = 0; k < 5000; ++k) {
    const float value = gemm_value(GemmInputs::permutation, GemmOperand::a, 3, 5, k);
    EXPECT_EQ(from_bf16(to_bf16(value)), value);
    EXPECT_EQ(from_f16(to_f16(value)), value);
    values.insert(value);
  }
  EXPECT_EQ(values.size(), 256U);
  EXPECT_EQ(*values.begin(), -128);
  EXPECT_EQ(*values.rbegin(), 127);
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
