// Products of which some elements of A or B are NaN or infinite: their rows and their verdict.

#include <gtest/gtest.h>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/error.hpp"
#include "suite/gemm/verify.hpp"

namespace tidemark {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Gemm planted(std::vector<PlantedElement> elements, GemmOutput output = GemmOutput::f32) {
  Gemm gemm = whole_product({20, 30, 40}, GemmInputs::small_integers);
  gemm.output = output;
  gemm.seed = 77;
  gemm.planted = std::move(elements);
  return gemm;
}

RunResult right(const Gemm& gemm) { return make_device(DeviceKind::virtual_device)->run(gemm); }

float at(const RunResult& result, std::size_t i, std::size_t j) {
  float value = 0;
  std::memcpy(&value, result.bytes.data() + 4 * (i * 30 + j), sizeof value);
  return value;
}

void set(RunResult& result, std::size_t i, std::size_t j, float value) {
  std::memcpy(result.bytes.data() + 4 * (i * 30 + j), &value, sizeof value);
}

/// Miscompares where element (i, j) of a right result is `value` instead.
std::vector<Miscompare> with(const Gemm& gemm, std::size_t i, std::size_t j, float value) {
  RunResult result = right(gemm);
  set(result, i, j, value);
  return verify_gemm(gemm, result, 0);
}

float b_at(const Gemm& gemm, std::uint64_t j, std::uint64_t k) {
  return gemm_value(gemm.inputs, GemmOperand::b, gemm.seed, j, k);
}

/// The first column whose B(k) is positive, negative or 0.
std::size_t column_with(const Gemm& gemm, std::uint64_t k, int sign) {
  std::size_t j = 0;
  while (j < 30 && (b_at(gemm, j, k) > 0) - (b_at(gemm, j, k) < 0) != sign) ++j;
  return j;
}

TEST(VerifyPlanted, AcceptsWhatTheVirtualDeviceMakesOfThem) {
  for (const GemmOutput output : {GemmOutput::f32, GemmOutput::bf16, GemmOutput::f16})
    for (const auto& elements : std::vector<std::vector<PlantedElement>>{
             {{GemmOperand::a, 3, 7, NonFinite::infinity}},
             {{GemmOperand::b, 3, 7, NonFinite::minus_infinity}},
             {{GemmOperand::a, 19, 39, NonFinite::nan}},
             {{GemmOperand::a, 3, 7, NonFinite::infinity},
              {GemmOperand::b, 4, 7, NonFinite::minus_infinity}},
             {{GemmOperand::a, 3, 7, NonFinite::infinity},
              {GemmOperand::a, 3, 8, NonFinite::minus_infinity}}}) {
      const Gemm gemm = planted(elements, output);
      const auto found = verify_gemm(gemm, right(gemm), 0);
      EXPECT_TRUE(found.empty()) << found.front().text;
    }
}

TEST(VerifyPlanted, FindsTheOtherSignOfAnInfinity) {
  const Gemm gemm = planted({{GemmOperand::a, 3, 7, NonFinite::minus_infinity}});
  const std::size_t j = column_with(gemm, 7, 1);
  ASSERT_LT(j, 30U);
  ASSERT_EQ(at(right(gemm), 3, j), -kInfinity);
  const auto found = with(gemm, 3, j, kInfinity);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].coordinate[0], 3);
  EXPECT_EQ(found[0].coordinate[1], static_cast<std::int64_t>(j));
  EXPECT_EQ(found[0].expected, 0xff800000U);
  EXPECT_EQ(found[0].actual, 0x7f800000U);
}

TEST(VerifyPlanted, FindsTheLargestNumberInPlaceOfAnInfinity) {
  const Gemm gemm = planted({{GemmOperand::a, 3, 7, NonFinite::infinity}});
  const std::size_t j = column_with(gemm, 7, 1);
  EXPECT_EQ(with(gemm, 3, j, std::numeric_limits<float>::max()).size(), 1U);
  EXPECT_EQ(with(gemm, 3, j, kNan).size(), 1U);
}

TEST(VerifyPlanted, WantsNanWhereAnInfinityMeetsAZero) {
  const Gemm gemm = planted({{GemmOperand::a, 3, 7, NonFinite::infinity}});
  const std::size_t j = column_with(gemm, 7, 0);
  ASSERT_LT(j, 30U);
  ASSERT_TRUE(std::isnan(at(right(gemm), 3, j)));
  EXPECT_EQ(with(gemm, 3, j, kInfinity).size(), 1U);
  EXPECT_EQ(with(gemm, 3, j, 5).size(), 1U);
}

TEST(VerifyPlanted, WantsNanWhereInfinitiesOfBothSignsMeet) {
  const Gemm gemm = planted(
      {{GemmOperand::a, 3, 7, NonFinite::infinity}, {GemmOperand::b, 4, 8, NonFinite::infinity}});
  const float up = b_at(gemm, 4, 7);
  const float left = gemm_value(gemm.inputs, GemmOperand::a, gemm.seed, 3, 8);
  const bool opposite = up * left <= 0;
  EXPECT_EQ(std::isnan(at(right(gemm), 3, 4)), opposite);
  EXPECT_EQ(with(gemm, 3, 4, kNan).empty(), opposite);
}

TEST(VerifyPlanted, TakesAnyNanButNotThePoison) {
  const Gemm gemm = planted({{GemmOperand::b, 4, 8, NonFinite::nan}});
  EXPECT_TRUE(with(gemm, 6, 4, -kNan).empty());
  RunResult result = right(gemm);
  std::memset(result.bytes.data() + 4 * (6 * 30 + 4), 0xff, 4);
  EXPECT_EQ(verify_gemm(gemm, result, 0).size(), 1U);
}

TEST(VerifyPlanted, WantsUntouchedElementsExact) {
  const Gemm gemm = planted({{GemmOperand::a, 3, 7, NonFinite::nan}});
  EXPECT_EQ(with(gemm, 4, 0, at(right(gemm), 4, 0) + 1).size(), 1U);
  EXPECT_EQ(with(gemm, 2, 29, kNan).size(), 1U);
}

TEST(VerifyPlanted, StillLooksAtTheGuards) {
  const Gemm gemm = planted({{GemmOperand::a, 3, 7, NonFinite::nan}});
  RunResult result = right(gemm);
  result.surroundings[0] ^= 1;
  const auto found = verify_gemm(gemm, result, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].what, "guard");
}

TEST(VerifyPlanted, JudgesAmongExactIntegersOnly) {
  Gemm gemm = planted({{GemmOperand::a, 3, 7, NonFinite::nan}});
  gemm.inputs = GemmInputs::normal;
  const RunResult result = right(gemm);
  EXPECT_THROW(verify_gemm(gemm, result, 0), Error);
}

}  // namespace

}  // namespace tidemark
