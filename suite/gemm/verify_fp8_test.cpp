// The verification of fp8 products: what a tensor core that keeps 14 bits may hand back is right,
// as long as it is promoted, and what it may not is wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "suite/gemm/elements.hpp"
#include "suite/gemm/loops.hpp"
#include "suite/gemm/verify.hpp"

namespace tidemark {
namespace {

Gemm product(GemmElement element, GemmInputs inputs, std::uint64_t k) {
  Gemm gemm = whole_product({20, 30, k}, inputs);
  gemm.seed = 77;
  gemm.element = element;
  return gemm;
}

RunResult right(const Gemm& gemm) { return make_device(DeviceKind::virtual_device)->run(gemm); }

float f32_at(const RunResult& result, std::size_t index) {
  float value = 0;
  std::memcpy(&value, result.bytes.data() + 4 * index, sizeof value);
  return value;
}

void set_f32(RunResult& result, std::size_t index, float value) {
  std::memcpy(result.bytes.data() + 4 * index, &value, sizeof value);
}

/// Rounded down to 13 bits below the power of two `exponent`.
double cut(double value, int exponent) {
  const double unit = std::ldexp(1.0, exponent - 13);
  return std::floor(value / unit) * unit;
}

/// One wgmma: every product and the sum so far is cut off below the largest of them, and so is
/// their sum, all towards minus infinity, which is the worst for sums.
double added_up(double sum, const float* a, const float* b, std::size_t count) {
  double largest = std::abs(sum);
  for (std::size_t i = 0; i < count; ++i)
    largest = std::max(largest, std::abs(double{a[i]} * double{b[i]}));
  if (largest == 0) return 0;
  double all = cut(sum, std::ilogb(largest));
  for (std::size_t i = 0; i < count; ++i)
    all += cut(double{a[i]} * double{b[i]}, std::ilogb(largest));
  return all == 0 ? 0 : cut(all, std::ilogb(all));
}

/// C as such tensor cores make it, its sums promoted to fp32 every `promoted_every` k.
RunResult as_tensor_cores_do(const Gemm& gemm, std::size_t promoted_every) {
  RunResult result = right(gemm);
  std::vector<float> a(gemm.k), b(gemm.k);
  for (std::size_t i = 0; i < gemm.m; ++i)
    for (std::size_t j = 0; j < gemm.n; ++j) {
      make_operand(gemm, GemmOperand::a, i, 0, std::span(a));
      make_operand(gemm, GemmOperand::b, j, 0, std::span(b));
      float promoted = 0;
      double partial = 0;
      for (std::size_t k = 0; k < gemm.k; k += 32) {
        if (k % promoted_every == 0) {
          promoted += static_cast<float>(partial);
          partial = 0;
        }
        partial = added_up(partial, &a[k], &b[k], std::min<std::size_t>(32, gemm.k - k));
      }
      set_f32(result, i * gemm.n + j, promoted + static_cast<float>(partial));
    }
  return result;
}

TEST(VerifyFp8, AcceptsNormalSumsThatTensorCoresCutOff) {
  for (const GemmElement element : {GemmElement::e4m3, GemmElement::e5m2})
    for (const std::uint64_t k : {1U, 40U, 128U, 1031U}) {
      const Gemm gemm = product(element, GemmInputs::normal, k);
      const RunResult result = as_tensor_cores_do(gemm, 128);
      EXPECT_TRUE(k == 1 || result.bytes != right(gemm).bytes) << "nothing was cut off";
      EXPECT_TRUE(verify_gemm(gemm, result, 0).empty()) << name_of(element) << ", k = " << k;
      EXPECT_TRUE(verify_freivalds(gemm, result, 0).empty()) << name_of(element) << ", k = " << k;
    }
}

TEST(VerifyFp8, FindsANormalSumThatIsFurtherOff) {
  const Gemm gemm = product(GemmElement::e4m3, GemmInputs::normal, 64);
  RunResult result = right(gemm);
  set_f32(result, 123, f32_at(result, 123) + 1.5F);  // as if one product were missing
  EXPECT_EQ(verify_gemm(gemm, result, 0).size(), 1U);
}

TEST(VerifyFp8, AcceptsIntegersThatTensorCoresSumAndPromote) {
  const Gemm digits = product(GemmElement::e5m2, GemmInputs::octal_digits, 2048);
  EXPECT_TRUE(verify_gemm(digits, as_tensor_cores_do(digits, 128), 0).empty());
  const Gemm integers = product(GemmElement::e4m3, GemmInputs::small_integers, 1031);
  EXPECT_TRUE(verify_gemm(integers, as_tensor_cores_do(integers, 128), 0).empty());
}

TEST(VerifyFp8, FindsSumsOfDigitsThatAreNotPromoted) {
  const Gemm gemm = product(GemmElement::e4m3, GemmInputs::octal_digits, 2048);
  EXPECT_EQ(verify_gemm(gemm, as_tensor_cores_do(gemm, 2048), 0).size(), 1U);
}

// Which is why there are digits.
TEST(VerifyFp8, SmallIntegersDoNotTellWhetherSumsArePromoted) {
  const Gemm gemm = product(GemmElement::e4m3, GemmInputs::small_integers, 2048);
  EXPECT_TRUE(verify_gemm(gemm, as_tensor_cores_do(gemm, 2048), 0).empty());
}

TEST(IsExact, EndsWhereSumsNeedMoreThan24Bits) {
  EXPECT_TRUE(is_exact(product(GemmElement::e4m3, GemmInputs::octal_digits, 342'392)));
  EXPECT_FALSE(is_exact(product(GemmElement::e4m3, GemmInputs::octal_digits, 342'393)));
  EXPECT_TRUE(is_exact(product(GemmElement::e4m3, GemmInputs::small_integers, 1'864'135)));
  EXPECT_FALSE(is_exact(product(GemmElement::e4m3, GemmInputs::small_integers, 1'864'136)));
}

TEST(IsExact, EndsWhereOnesAreMoreThan24Bits) {
  EXPECT_TRUE(is_exact(product(GemmElement::bf16, GemmInputs::ones, 16'777'216)));
  EXPECT_FALSE(is_exact(product(GemmElement::bf16, GemmInputs::ones, 16'777'217)));
}

TEST(IsExact, NeverEndsWhereOneOfKCounts) {
  EXPECT_TRUE(is_exact(product(GemmElement::bf16, GemmInputs::permutation, 1'000'000'000)));
}

TEST(IsExact, CountsAlphaAndBetaTimesDigits) {
  Gemm gemm = product(GemmElement::e4m3, GemmInputs::octal_digits, 80'000);
  gemm.alpha = 1;
  gemm.beta = 0.5F;
  EXPECT_TRUE(is_exact(gemm));
  gemm.alpha = 4;
  EXPECT_FALSE(is_exact(gemm));
}

}  // namespace
}  // namespace tidemark
