// Products of e4m3 and e5m2 on the GPU: the engine against the plain reference and against the
// definition worked out on the host.
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/cuda/gemm/cuda_gemm.hpp"
#include "kernels/cuda/gemm/engine/engine.hpp"
#include "kernels/cuda/gpu_test.hpp"
#include "kernels/error.hpp"
#include "kernels/ops/payload.hpp"

namespace tidemark {
namespace {

Gemm whole(std::uint64_t m, std::uint64_t n, std::uint64_t k) {
  Gemm gemm = whole_product({m, n, k}, GemmInputs::small_integers);
  gemm.seed = 7;
  return gemm;
}

/// Both types, every type of C; alpha and beta by the way.
std::vector<Gemm> kinds_of(const Gemm& base) {
  std::vector<Gemm> all;
  for (const GemmElement element : {GemmElement::e4m3, GemmElement::e5m2})
    for (const GemmOutput output : {GemmOutput::f32, GemmOutput::bf16, GemmOutput::f16})
      for (const bool scaled : {false, true}) {
        Gemm gemm = base;
        gemm.element = element;
        gemm.output = output;
        gemm.alpha = scaled ? 0.5F : 1.0F;
        gemm.beta = scaled ? -2.0F : 0.0F;
        all.push_back(gemm);
      }
  return all;
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

/// A or B as numbers, row by row along k.
std::vector<float> numbers(const Gemm& gemm, GemmOperand operand) {
  const std::uint64_t rows = operand == GemmOperand::a ? gemm.m : gemm.n;
  std::vector<float> all;
  for (std::uint64_t row = 0; row < rows; ++row)
    for (std::uint64_t k = 0; k < gemm.k; ++k)
      all.push_back(gemm_value(gemm.inputs, operand, gemm.seed, row, k));
  return all;
}

/// What C must hold, by the definition: of integers, all of which are exact in any order.
std::vector<float> defined(const Gemm& gemm) {
  const std::vector<float> a = numbers(gemm, GemmOperand::a);
  const std::vector<float> b = numbers(gemm, GemmOperand::b);
  std::vector<float> c;
  for (std::uint64_t i = 0; i < gemm.m; ++i)
    for (std::uint64_t j = 0; j < gemm.n; ++j) {
      float sum = 0;
      for (std::uint64_t k = 0; k < gemm.k; ++k) sum += a[i * gemm.k + k] * b[j * gemm.k + k];
      const float old = gemm_value(gemm.inputs, GemmOperand::c, gemm.seed, i, j);
      const float value = gemm.alpha * sum + (gemm.beta == 0 ? 0 : gemm.beta * old);
      c.push_back(gemm.output == GemmOutput::f32    ? value
                  : gemm.output == GemmOutput::bf16 ? from_bf16(to_bf16(value))
                                                    : from_f16(to_f16(value)));
    }
  return c;
}

void expect_surroundings_intact(const Gemm& gemm, const RunResult& result) {
  const std::size_t padding = c_padding_bytes(gemm);
  ASSERT_EQ(result.surroundings.size(), 2 * kGuardBytes + gemm.m * padding);
  for (std::uint32_t i = 0; i < 2 * kGuardBytes; ++i)
    ASSERT_EQ(result.surroundings[i], poison_byte({.seed = 7}, i)) << "guard byte " << i;
  for (std::size_t i = 0; i < gemm.m * padding; ++i)
    ASSERT_EQ(result.surroundings[2 * kGuardBytes + i], 0xff)
        << "byte " << i % padding << " behind row " << i / padding;
}

void expect_defined(const Gemm& gemm) {
  SCOPED_TRACE(testing::Message() << gemm.m << " x " << gemm.n << " x " << gemm.k << ", "
                                  << name_of(gemm.element) << " to "
                                  << static_cast<int>(gemm.output) << ", alpha " << gemm.alpha
                                  << ", beta " << gemm.beta << ", lda " << gemm.lda << ", ldb "
                                  << gemm.ldb << ", ldc " << gemm.ldc);
  const RunResult result = run_gemm(gemm);
  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  ASSERT_EQ(result.bytes.size(), gemm.m * gemm.n * c_element_bytes(gemm.output));
  const std::vector<float> expected = defined(gemm);
  for (std::uint64_t i = 0; i < gemm.m; ++i)
    for (std::uint64_t j = 0; j < gemm.n; ++j)
      ASSERT_EQ(value_at(gemm, result, i, j), expected[i * gemm.n + j]) << i << ", " << j;
  expect_surroundings_intact(gemm, result);
}

void expect_like_reference(Gemm gemm) {
  const RunResult engine = run_gemm(gemm);
  ASSERT_EQ(engine.fault, DeviceFault::none) << engine.note;
  gemm.engine = GemmEngine::reference;
  const RunResult reference = run_gemm(gemm);
  ASSERT_EQ(reference.fault, DeviceFault::none) << reference.note;
  ASSERT_EQ(engine.bytes.size(), gemm.m * gemm.n * c_element_bytes(gemm.output));
  EXPECT_TRUE(engine.bytes == reference.bytes) << name_of(gemm.element) << ", " << engine.note;
}

class Fp8GpuGemm : public GpuTest {};

TEST_F(Fp8GpuGemm, ReferenceIsWhatIsDefined) {
  for (Gemm gemm : kinds_of(whole(37, 67, 72))) {
    gemm.engine = GemmEngine::reference;
    expect_defined(gemm);
  }
}

TEST_F(Fp8GpuGemm, OneElement) {
  for (const Gemm& gemm : kinds_of(whole(1, 1, 1))) expect_defined(gemm);
}

TEST_F(Fp8GpuGemm, OneTileAndOneStage) {
  for (const Gemm& gemm : kinds_of(whole(128, 128, 128))) expect_defined(gemm);
}

TEST_F(Fp8GpuGemm, OneWgmmaOfK) {
  for (const Gemm& gemm : kinds_of(whole(128, 128, 32))) expect_defined(gemm);
}

TEST_F(Fp8GpuGemm, EndsOffEveryTileAndStage) {
  for (const Gemm& gemm : kinds_of(whole(131, 259, 141))) expect_defined(gemm);
}

// More stages than the ring has, and more tiles than a block takes in one round.
TEST_F(Fp8GpuGemm, ManyTilesAndALongK) {
  for (const Gemm& gemm : kinds_of(whole(2500, 2100, 1032))) expect_like_reference(gemm);
}

TEST_F(Fp8GpuGemm, SumsBeyondFourteenBitsAreExact) {
  Gemm gemm = whole(130, 136, 8200);
  gemm.inputs = GemmInputs::octal_digits;
  for (const GemmElement element : {GemmElement::e4m3, GemmElement::e5m2}) {
    gemm.element = element;
    ASSERT_GT(defined(gemm).front(), 65536.0F);
    expect_defined(gemm);
  }
}

TEST_F(Fp8GpuGemm, RowsLieApart) {
  for (Gemm gemm : kinds_of(whole(130, 70, 136))) {
    gemm.lda = layout_of(gemm, GemmOperand::a).pitch + 16;
    gemm.ldb = layout_of(gemm, GemmOperand::b).pitch + 48;
    for (const std::uint64_t more : {0U, 1U, 2U, 10U}) {
      gemm.ldc = gemm.n + more;
      expect_defined(gemm);
    }
  }
}

TEST_F(Fp8GpuGemm, OneRowAndOneColumn) {
  for (const Gemm& gemm : kinds_of(whole(1, 300, 260))) expect_defined(gemm);
  for (const Gemm& gemm : kinds_of(whole(300, 1, 260))) expect_defined(gemm);
}

TEST_F(Fp8GpuGemm, NoK) {
  for (const Gemm& gemm : kinds_of(whole(37, 67, 0))) expect_defined(gemm);
}

// Every order of the sums of 128 k gives other bits: as long as they are right, they are so twice.
TEST_F(Fp8GpuGemm, NormalNumbersGiveTheSameBitsTwice) {
  Gemm gemm = whole(500, 600, 2056);
  gemm.inputs = GemmInputs::normal;
  gemm.element = GemmElement::e4m3;
  const RunResult first = run_gemm(gemm);
  const RunResult second = run_gemm(gemm);
  ASSERT_EQ(first.fault, DeviceFault::none) << first.note;
  EXPECT_TRUE(first.bytes == second.bytes);
}

TEST_F(Fp8GpuGemm, NothingToMultiply) {
  for (Gemm gemm : kinds_of(whole(37, 67, 72))) {
    gemm.alpha = 0;
    expect_defined(gemm);
  }
}

TEST_F(Fp8GpuGemm, NanReachesItsRowAndNoOther) {
  for (const GemmElement element : {GemmElement::e4m3, GemmElement::e5m2}) {
    Gemm gemm = whole(140, 67, 300);
    gemm.element = element;
    gemm.planted = {{GemmOperand::a, 12, 299, NonFinite::nan}};
    const RunResult result = run_gemm(gemm);
    ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
    for (std::uint64_t i = 0; i < gemm.m; ++i)
      for (std::uint64_t j = 0; j < gemm.n; ++j)
        ASSERT_EQ(std::isnan(value_at(gemm, result, i, j)), i == 12) << i << ", " << j;
  }
}

TEST_F(Fp8GpuGemm, NanReachesItsColumnAndNoOther) {
  for (const GemmElement element : {GemmElement::e4m3, GemmElement::e5m2}) {
    Gemm gemm = whole(140, 67, 300);
    gemm.element = element;
    gemm.planted = {{GemmOperand::b, 40, 3, NonFinite::nan}};
    const RunResult result = run_gemm(gemm);
    ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
    for (std::uint64_t i = 0; i < gemm.m; ++i)
      for (std::uint64_t j = 0; j < gemm.n; ++j)
        ASSERT_EQ(std::isnan(value_at(gemm, result, i, j)), j == 40) << i << ", " << j;
  }
}

TEST_F(Fp8GpuGemm, KeepsToABudgetOfSms) {
  Gemm gemm = whole(1500, 1100, 520);
  gemm.element = GemmElement::e4m3;
  gemm.sm_budget = 8;
  expect_like_reference(gemm);
}

TEST_F(Fp8GpuGemm, LastOfSeveralLaunchesIsAsGoodAsOne) {
  Gemm gemm = whole(300, 520, 136);
  gemm.element = GemmElement::e5m2;
  gemm.beta = 2;
  const RunResult once = run_gemm(gemm);
  const Measurement measured = measure_gemm(gemm, {.warmups = 1, .samples = 3});
  ASSERT_EQ(measured.fault, DeviceFault::none) << measured.note;
  EXPECT_TRUE(measured.last.bytes == once.bytes);
}

TEST_F(Fp8GpuGemm, SaysWhatRan) {
  Gemm gemm = whole(20, 30, 72);
  gemm.element = GemmElement::e4m3;
  EXPECT_EQ(run_gemm(gemm).note, "engine 128x192_2x1_s4_m8_lead1_early");
}

std::string refusal_of(const Gemm& gemm) {
  try {
    (void)run_gemm(gemm);
  } catch (const Error& error) {
    return error.what();
  }
  return "not refused";
}

TEST_F(Fp8GpuGemm, RowsOff16BytesAreRefused) {
  Gemm gemm = whole(20, 30, 72);
  gemm.element = GemmElement::e4m3;
  gemm.lda = 72;
  EXPECT_EQ(refusal_of(gemm),
            "gemm: lda of e4m3 and e5m2 is a multiple of 16: rows that start off 16 bytes are "
            "packed for bf16 and fp16 only");
}

TEST_F(Fp8GpuGemm, ConfigurationThatIsNotThereIsRefused) {
  Gemm gemm = whole(20, 30, 72);
  gemm.element = GemmElement::e4m3;
  gemm.configuration = static_cast<std::uint32_t>(fp8_configurations().size() + 1);
  EXPECT_EQ(refusal_of(gemm), fmt::format("gemm: there is no configuration {}: the engine has {} "
                                          "of e4m3",
                                          gemm.configuration, fp8_configurations().size()));
}

}  // namespace
}  // namespace tidemark
