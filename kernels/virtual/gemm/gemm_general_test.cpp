// What a Gemm may ask for beyond C = A B, on the virtual device, against its definition.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>

#include "kernels/error.hpp"
#include "kernels/virtual/gemm/gemm_multiply.hpp"
#include "kernels/virtual/virtual_device.hpp"

namespace tidemark {
namespace {

Gemm small() {
  Gemm gemm = whole_product({70, 66, 72}, GemmInputs::small_integers);
  gemm.seed = 11;
  return gemm;
}

float value_of(const Gemm& gemm, GemmOperand operand, std::uint64_t row, std::uint64_t k) {
  return gemm_value(gemm.inputs, operand, gemm.seed, row, k);
}

float defined(const Gemm& gemm, std::uint64_t i, std::uint64_t j) {
  float sum = 0;
  for (std::uint64_t k = 0; k < gemm.k; ++k)
    sum += value_of(gemm, GemmOperand::a, i, k) * value_of(gemm, GemmOperand::b, j, k);
  return gemm.alpha * sum + (gemm.beta == 0 ? 0 : gemm.beta * value_of(gemm, GemmOperand::c, i, j));
}

float value_at(const Gemm& gemm, const RunResult& result, std::uint64_t i, std::uint64_t j) {
  const std::size_t size = c_element_bytes(gemm.output);
  const std::uint8_t* const from = result.bytes.data() + (i * gemm.cols.count + j) * size;
  if (gemm.output == GemmOutput::f32) {
    float value = 0;
    std::memcpy(&value, from, size);
    return value;
  }
  std::uint16_t bits = 0;
  std::memcpy(&bits, from, size);
  return gemm.output == GemmOutput::bf16 ? from_bf16(bits) : from_f16(bits);
}

float rounded(const Gemm& gemm, float value) {
  if (gemm.output == GemmOutput::f32) return value;
  return gemm.output == GemmOutput::bf16 ? from_bf16(to_bf16(value)) : from_f16(to_f16(value));
}

/// Elements that are not what the definition says, or not a number.
std::size_t wrong_elements(const Gemm& gemm, Fault fault = kNoFault) {
  const RunResult result = run_virtual_gemm(gemm, fault);
  std::size_t wrong = 0;
  for (std::uint64_t i = 0; i < gemm.rows.count; ++i)
    for (std::uint64_t j = 0; j < gemm.cols.count; ++j)
      if (value_at(gemm, result, i, j) != rounded(gemm, defined(gemm, i, j))) ++wrong;
  return wrong;
}

std::string refusal_of(const Gemm& gemm) {
  try {
    run_virtual_gemm(gemm, kNoFault);
  } catch (const Error& error) {
    return error.what();
  }
  return "not refused";
}

TEST(GeneralGemm, AlphaScalesTheProduct) {
  Gemm gemm = small();
  gemm.alpha = -2;
  EXPECT_EQ(wrong_elements(gemm), 0U);
  EXPECT_GT(wrong_elements(gemm, kFaultGemmAlphaIgnored), 4000U);
}

TEST(GeneralGemm, BetaAddsWhatWasThere) {
  Gemm gemm = small();
  gemm.beta = 3;
  EXPECT_EQ(wrong_elements(gemm), 0U);
  EXPECT_GT(wrong_elements(gemm, kFaultGemmBetaIgnored), 3000U);
}

TEST(GeneralGemm, AlphaDoesNotTouchWhatWasThere) {
  Gemm gemm = small();
  gemm.alpha = 0.5F;
  gemm.beta = 3;
  EXPECT_EQ(wrong_elements(gemm), 0U);
  EXPECT_GT(wrong_elements(gemm, kFaultGemmAlphaTwice), 3000U);
}

TEST(GeneralGemm, WithBetaZeroTheNaNThatWasThereDoesNotMatter) {
  EXPECT_EQ(wrong_elements(small()), 0U);
  EXPECT_EQ(wrong_elements(small(), kFaultGemmUnusedRead), 70U * 66U);
}

TEST(GeneralGemm, NothingToSumLeavesBetaTimesC) {
  Gemm gemm = small();
  gemm.k = 0;
  gemm.beta = -2;
  EXPECT_EQ(wrong_elements(gemm), 0U);
  EXPECT_GT(wrong_elements(gemm, kFaultGemmNothingDone), 3000U);
}

TEST(GeneralGemm, AlphaZeroAddsNothing) {
  Gemm gemm = small();
  gemm.alpha = 0;
  EXPECT_EQ(wrong_elements(gemm), 0U);
  EXPECT_EQ(wrong_elements(gemm, kFaultGemmNothingDone), 70U * 66U);
}

TEST(GeneralGemm, MatricesMayLieEitherWay) {
  for (const Major a : {Major::k, Major::mn})
    for (const Major b : {Major::k, Major::mn}) {
      Gemm gemm = small();
      gemm.a_major = a;
      gemm.b_major = b;
      EXPECT_EQ(wrong_elements(gemm), 0U);
    }
  Gemm gemm = small();
  gemm.b_major = Major::mn;
  EXPECT_GT(wrong_elements(gemm, kFaultGemmMajorIgnored), 3000U);
}

TEST(GeneralGemm, ElementsOfFp16) {
  for (const GemmOutput output : {GemmOutput::f32, GemmOutput::bf16, GemmOutput::f16}) {
    Gemm gemm = small();
    gemm.element = GemmElement::f16;
    gemm.output = output;
    EXPECT_EQ(wrong_elements(gemm), 0U);
    EXPECT_GT(wrong_elements(gemm, kFaultGemmTypeIgnored), 3000U);
  }
}

TEST(GeneralGemm, Fp16OutputIsRoundedToEven) {
  Gemm gemm = small();
  gemm.output = GemmOutput::f16;
  gemm.inputs = GemmInputs::normal;
  gemm.k = 1;  // a single product: no order of summation
  gemm.element = GemmElement::f16;
  const RunResult right = run_virtual_gemm(gemm, kNoFault);
  const RunResult cut = run_virtual_gemm(gemm, kFaultGemmTruncated);
  EXPECT_NE(right.bytes, cut.bytes);
  const float exact = from_f16(to_f16(value_of(gemm, GemmOperand::a, 3, 0))) *
                      from_f16(to_f16(value_of(gemm, GemmOperand::b, 5, 0)));
  EXPECT_EQ(value_at(gemm, right, 3, 5), from_f16(to_f16(exact)));
}

TEST(GeneralGemm, RowsMayLieApart) {
  Gemm gemm = small();
  gemm.lda = 80;
  gemm.ldb = 96;
  gemm.ldc = 72;
  EXPECT_EQ(wrong_elements(gemm), 0U);
  EXPECT_GT(wrong_elements(gemm, kFaultGemmPackedRows), 3000U);
  EXPECT_GT(wrong_elements(gemm, kFaultGemmPackedC), 3000U);
}

TEST(GeneralGemm, PaddingBetweenRowsOfCStays) {
  Gemm gemm = small();
  gemm.ldc = 72;
  const RunResult result = run_virtual_gemm(gemm, kNoFault);
  ASSERT_EQ(result.surroundings.size(), 2 * kGuardBytes + 70 * 6 * 4);
  for (std::size_t i = 2 * kGuardBytes; i < result.surroundings.size(); ++i)
    EXPECT_EQ(result.surroundings[i], 0xff);
}

TEST(GeneralGemm, ReferenceEngineSaysTheSame) {
  Gemm gemm = small();
  gemm.element = GemmElement::f16;
  gemm.a_major = Major::mn;
  gemm.alpha = 2;
  gemm.beta = -1;
  gemm.ldc = 76;
  const RunResult fast = run_virtual_gemm(gemm, kNoFault);
  gemm.engine = GemmEngine::reference;
  EXPECT_EQ(run_virtual_gemm(gemm, kNoFault).bytes, fast.bytes);
}

TEST(GeneralGemm, MeasuringBlendsWithAFreshC) {
  Gemm gemm = small();
  gemm.beta = 2;
  const RunResult once = run_virtual_gemm(gemm, kNoFault);
  const Measurement measured = measure_virtual_gemm(gemm, {.warmups = 1, .samples = 2}, kNoFault);
  EXPECT_EQ(measured.last.bytes, once.bytes);
}

TEST(GeneralGemm, RowsOfAAndBMayStartOnAnyElement) {
  Gemm gemm = small();
  gemm.lda = 73;
  gemm.ldb = 79;
  EXPECT_EQ(wrong_elements(gemm), 0U);
  EXPECT_GT(wrong_elements(gemm, kFaultGemmRowCut), 3000U);
}

TEST(GeneralGemm, RowsOfMnMajorMatricesMayStartOnAnyElement) {
  Gemm gemm = small();
  gemm.a_major = Major::mn;
  gemm.b_major = Major::mn;
  gemm.lda = 71;
  gemm.ldb = 66;
  EXPECT_EQ(wrong_elements(gemm), 0U);
  EXPECT_GT(wrong_elements(gemm, kFaultGemmRowCut), 3000U);
}

TEST(GeneralGemm, RowsOfCMayStartOnAnyElement) {
  for (const GemmOutput output : {GemmOutput::f32, GemmOutput::bf16}) {
    Gemm gemm = small();
    gemm.output = output;
    gemm.ldc = 67;
    EXPECT_EQ(wrong_elements(gemm), 0U);
    EXPECT_GT(wrong_elements(gemm, kFaultGemmCRowCut), 3000U);
  }
}

TEST(GeneralGemm, RowsMayFollowEachOtherWhereverTheyEnd) {
  Gemm gemm = small();
  gemm.n = 67;
  gemm.cols = {0, 67};
  gemm.k = 71;
  gemm.output = GemmOutput::bf16;
  gemm.lda = 71;
  gemm.ldb = 71;
  gemm.ldc = 67;
  EXPECT_EQ(wrong_elements(gemm), 0U);
  EXPECT_EQ(wrong_elements(gemm, kFaultGemmPackedRows), 0U) << "they do follow each other";
  EXPECT_GT(wrong_elements(gemm, kFaultGemmNeighbourWritten), 30U);
}

TEST(GeneralGemm, WritingTheElementBeforeARowShowsInThePadding) {
  Gemm gemm = small();
  gemm.output = GemmOutput::bf16;
  gemm.ldc = 69;
  const RunResult right = run_virtual_gemm(gemm, kNoFault);
  const RunResult wrong = run_virtual_gemm(gemm, kFaultGemmNeighbourWritten);
  EXPECT_EQ(wrong.bytes, right.bytes);
  EXPECT_NE(wrong.surroundings, right.surroundings);
}

TEST(GeneralGemm, BudgetOfSmsChangesNothing) {
  Gemm gemm = small();
  gemm.sm_budget = 2;
  EXPECT_EQ(wrong_elements(gemm), 0U);
  EXPECT_EQ(wrong_elements(gemm, kFaultGemmOneRound), 6U * 66) << "the third and the fourth tile";
}

TEST(GeneralGemm, RefusesABudgetThatHoldsNoCluster) {
  Gemm gemm = small();
  gemm.sm_budget = 1;
  EXPECT_EQ(refusal_of(gemm),
            "gemm: an SM budget of 1 holds no cluster: give at least 2, or 0 for all");
}

TEST(GeneralGemm, RefusesABudgetForARung) {
  Gemm gemm = small();
  gemm.rung = GemmRung::tma_store;
  gemm.sm_budget = 66;
  EXPECT_EQ(refusal_of(gemm),
            "gemm: a rung of the ladder takes all SMs: leave out the budget, or the rung");
}

TEST(GeneralGemm, PlantedElementsAreReadWhicheverWayAMatrixLies) {
  Gemm gemm = small();
  gemm.k = 1;
  gemm.a_major = Major::mn;
  gemm.b_major = Major::k;
  gemm.rows = {10, 60};
  gemm.planted = {{GemmOperand::a, 12, 0, NonFinite::minus_infinity},
                  {GemmOperand::b, 5, 0, NonFinite::nan}};
  for (const GemmElement element : {GemmElement::bf16, GemmElement::f16}) {
    gemm.element = element;
    const RunResult result = run_virtual_gemm(gemm, kNoFault);
    for (std::uint64_t i = 0; i < 60; ++i)
      for (std::uint64_t j = 0; j < 66; ++j) {
        const float value = value_at(gemm, result, i, j);
        const float b = value_of(gemm, GemmOperand::b, j, 0);
        if (j == 5 || (i == 2 && b == 0))
          EXPECT_TRUE(std::isnan(value)) << i << ", " << j;
        else if (i == 2)
          EXPECT_EQ(value, b > 0 ? -INFINITY : INFINITY) << j;
        else
          EXPECT_EQ(value, value_of(gemm, GemmOperand::a, 10 + i, 0) * b) << i << ", " << j;
      }
  }
}

TEST(GeneralGemm, PlantedElementsOutsideAAndBAreRefused) {
  Gemm gemm = small();
  gemm.rows = {10, 60};
  for (const PlantedElement& outside : {PlantedElement{GemmOperand::a, 9, 0, NonFinite::nan},
                                        PlantedElement{GemmOperand::a, 70, 0, NonFinite::nan},
                                        PlantedElement{GemmOperand::b, 66, 0, NonFinite::nan},
                                        PlantedElement{GemmOperand::b, 0, 72, NonFinite::nan},
                                        PlantedElement{GemmOperand::c, 10, 0, NonFinite::nan}}) {
    gemm.planted = {outside};
    EXPECT_THROW(run_virtual_gemm(gemm, kNoFault), Error);
  }
  gemm.planted = {{GemmOperand::a, 10, 71, NonFinite::nan}};
  EXPECT_NO_THROW(run_virtual_gemm(gemm, kNoFault));
}

TEST(GeneralGemm, RefusesWhatNoDeviceCan) {
  Gemm gemm = small();
  gemm.ldc = 65;
  EXPECT_EQ(refusal_of(gemm), "gemm: ldc is shorter than a row of C");
  gemm.ldc = 0;
  gemm.lda = 71;
  EXPECT_EQ(refusal_of(gemm), "gemm: lda is shorter than a row of A");
  gemm.lda = 0;
  gemm.b_major = Major::mn;
  gemm.ldb = 64;
  EXPECT_EQ(refusal_of(gemm), "gemm: ldb is shorter than a row of B");
}

}  // namespace
}  // namespace tidemark
