// What a Gemm may ask for beyond C = A B, on the GPU: the engine's general kernels against the
// plain reference, and that against the definition worked out on the host.
#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cuda/gemm/cuda_gemm.hpp"
#include "kernels/cuda/gpu_test.hpp"
#include "kernels/ops/payload.hpp"

namespace tidemark {
namespace {

Gemm whole(std::uint64_t m, std::uint64_t n, std::uint64_t k) {
  Gemm gemm = whole_product({m, n, k}, GemmInputs::small_integers);
  gemm.seed = 7;
  return gemm;
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

float defined(const Gemm& gemm, std::uint64_t i, std::uint64_t j) {
  float sum = 0;
  for (std::uint64_t k = 0; k < gemm.k; ++k)
    sum += gemm_value(gemm.inputs, GemmOperand::a, gemm.seed, i, k) *
           gemm_value(gemm.inputs, GemmOperand::b, gemm.seed, j, k);
  const float value =
      gemm.alpha * sum +
      (gemm.beta == 0 ? 0 : gemm.beta * gemm_value(gemm.inputs, GemmOperand::c, gemm.seed, i, j));
  if (gemm.output == GemmOutput::f32) return value;
  return gemm.output == GemmOutput::bf16 ? from_bf16(to_bf16(value)) : from_f16(to_f16(value));
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
  SCOPED_TRACE(testing::Message() << gemm.m << " x " << gemm.n << " x " << gemm.k << ", type "
                                  << static_cast<int>(gemm.element) << " to "
                                  << static_cast<int>(gemm.output) << ", majors "
                                  << static_cast<int>(gemm.a_major)
                                  << static_cast<int>(gemm.b_major) << ", alpha " << gemm.alpha
                                  << ", beta " << gemm.beta);
  const RunResult result = run_gemm(gemm);
  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  ASSERT_EQ(result.bytes.size(), gemm.m * gemm.n * c_element_bytes(gemm.output));
  for (std::uint64_t i = 0; i < gemm.m; ++i)
    for (std::uint64_t j = 0; j < gemm.n; ++j)
      ASSERT_EQ(value_at(gemm, result, i, j), defined(gemm, i, j)) << i << ", " << j;
  expect_surroundings_intact(gemm, result);
}

void expect_like_reference(Gemm gemm, const std::string& by = "") {
  const RunResult engine = run_gemm(gemm);
  ASSERT_EQ(engine.fault, DeviceFault::none) << engine.note;
  EXPECT_NE(engine.note.find(by), std::string::npos) << engine.note;
  gemm.engine = GemmEngine::reference;
  const RunResult reference = run_gemm(gemm);
  ASSERT_EQ(reference.fault, DeviceFault::none) << reference.note;
  EXPECT_TRUE(engine.bytes == reference.bytes);
}

constexpr GemmOutput kOutputs[] = {GemmOutput::f32, GemmOutput::bf16, GemmOutput::f16};

/// Every type, every way round, every type of C; alpha and beta by the way.
std::vector<Gemm> kinds_of(const Gemm& base) {
  std::vector<Gemm> all;
  for (const GemmElement element : {GemmElement::bf16, GemmElement::f16})
    for (const Major a : {Major::k, Major::mn})
      for (const Major b : {Major::k, Major::mn})
        for (const GemmOutput output : kOutputs) {
          Gemm gemm = base;
          gemm.element = element;
          gemm.a_major = a;
          gemm.b_major = b;
          gemm.output = output;
          gemm.alpha = all.size() % 2 == 0 ? 1.0F : 0.5F;
          gemm.beta = all.size() % 3 == 0 ? 0.0F : -2.0F;
          all.push_back(gemm);
        }
  return all;
}

class GeneralGpuGemm : public GpuTest {};

TEST_F(GeneralGpuGemm, ReferenceIsWhatIsDefined) {
  for (Gemm gemm : kinds_of(whole(37, 67, 72))) {
    gemm.engine = GemmEngine::reference;
    expect_defined(gemm);
  }
}

TEST_F(GeneralGpuGemm, EveryKindOfProductOfOneTile) {
  for (const Gemm& gemm : kinds_of(whole(128, 256, 64))) expect_defined(gemm);
}

TEST_F(GeneralGpuGemm, EveryKindOfProductThatEndsOffEveryTile) {
  for (const Gemm& gemm : kinds_of(whole(131, 259, 71))) expect_defined(gemm);
}

// The last block of k is multiplied as far as K reaches into it.
TEST_F(GeneralGpuGemm, KEndsAnywhereWithinABlock) {
  for (const std::uint64_t k : {24U, 48U, 88U, 112U})
    for (const Gemm& gemm : kinds_of(whole(131, 259, k))) expect_defined(gemm);
}

TEST_F(GeneralGpuGemm, OneElement) {
  for (const Gemm& gemm : kinds_of(whole(1, 1, 1))) expect_defined(gemm);
}

TEST_F(GeneralGpuGemm, ManyTilesAndALongK) {
  for (const Gemm& gemm : kinds_of(whole(1500, 2100, 1032))) expect_like_reference(gemm);
}

TEST_F(GeneralGpuGemm, NormalNumbersGiveTheSameBitsInEveryLayout) {
  for (const GemmElement element : {GemmElement::bf16, GemmElement::f16}) {
    Gemm gemm = whole(500, 600, 2056);
    gemm.inputs = GemmInputs::normal;
    gemm.element = element;
    if (element == GemmElement::bf16) gemm.configuration = 1;  // a chosen one may sum K in parts
    const RunResult k_major = run_gemm(gemm);
    ASSERT_EQ(k_major.fault, DeviceFault::none) << k_major.note;
    gemm.configuration = 0;
    for (const auto& [a, b] : {std::pair{Major::k, Major::mn}, std::pair{Major::mn, Major::k},
                               std::pair{Major::mn, Major::mn}}) {
      gemm.a_major = a;
      gemm.b_major = b;
      const RunResult result = run_gemm(gemm);
      ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
      EXPECT_TRUE(result.bytes == k_major.bytes) << result.note;
    }
  }
}

TEST_F(GeneralGpuGemm, RowsLieApart) {
  for (Gemm gemm : kinds_of(whole(130, 70, 136))) {
    gemm.lda = layout_of(gemm, GemmOperand::a).pitch + 8;
    gemm.ldb = layout_of(gemm, GemmOperand::b).pitch + 40;
    gemm.ldc = c_row_pitch(gemm) / c_element_bytes(gemm.output) + 24;
    expect_defined(gemm);
  }
}

TEST_F(GeneralGpuGemm, PlainProductWhoseRowsLieApart) {
  Gemm gemm = whole(130, 70, 136);
  gemm.lda = 152;
  gemm.ldc = 88;
  expect_defined(gemm);
}

TEST_F(GeneralGpuGemm, NothingToMultiply) {
  for (Gemm gemm : kinds_of(whole(37, 67, 0))) expect_defined(gemm);
  for (Gemm gemm : kinds_of(whole(37, 67, 72))) {
    gemm.alpha = 0;
    expect_defined(gemm);
  }
}

TEST_F(GeneralGpuGemm, PlantedElementsReachTheirRowAndColumn) {
  for (Gemm gemm : kinds_of(whole(37, 67, 1))) {
    gemm.beta = 0;
    gemm.planted = {{GemmOperand::a, 12, 0, NonFinite::minus_infinity},
                    {GemmOperand::b, 5, 0, NonFinite::nan}};
    for (const GemmEngine engine : {GemmEngine::fast, GemmEngine::reference}) {
      gemm.engine = engine;
      const RunResult result = run_gemm(gemm);
      ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
      for (std::uint64_t i = 0; i < gemm.m; ++i)
        for (std::uint64_t j = 0; j < gemm.n; ++j) {
          const float value = value_at(gemm, result, i, j);
          const float b = gemm_value(gemm.inputs, GemmOperand::b, gemm.seed, j, 0);
          if (j == 5 || (i == 12 && b == 0))
            ASSERT_TRUE(std::isnan(value)) << i << ", " << j;
          else if (i == 12)
            ASSERT_EQ(value, b > 0 ? -INFINITY : INFINITY) << j;
          else
            ASSERT_EQ(value, defined(gemm, i, j)) << i << ", " << j;
        }
    }
  }
}

TEST_F(GeneralGpuGemm, LastOfSeveralLaunchesBlendsWithAFreshC) {
  Gemm gemm = whole(300, 520, 136);
  gemm.beta = 2;
  const RunResult once = run_gemm(gemm);
  const Measurement measured = measure_gemm(gemm, {.warmups = 1, .samples = 3});
  ASSERT_EQ(measured.fault, DeviceFault::none) << measured.note;
  EXPECT_TRUE(measured.last.bytes == once.bytes);
}

// Small ones do not take tiles by GPC.
TEST_F(GeneralGpuGemm, LargeProduct) {
  Gemm gemm = whole(4100, 4200, 4160);
  gemm.beta = 1;
  const RunResult engine = run_gemm(gemm);
  gemm.engine = GemmEngine::reference;
  ASSERT_EQ(engine.fault, DeviceFault::none) << engine.note;
  EXPECT_EQ(engine.note, "engine 128x192_2x1_s5_turn_streamk_m8_g1_early");
  EXPECT_TRUE(engine.bytes == run_gemm(gemm).bytes);
}

TEST_F(GeneralGpuGemm, SaysWhatRan) {
  Gemm gemm = whole(20, 30, 72);
  gemm.beta = 1;
  EXPECT_EQ(run_gemm(gemm).note, "engine 128x256_2x1_s4_m8_lead1_early");
  gemm.k = 0;
  EXPECT_EQ(run_gemm(gemm).note, "nothing to multiply");
}

// 228 and 130 tiles of 256 x 192, 84 of 256 x 256 for 66 clusters.
TEST_F(GeneralGpuGemm, TilesWhoseKIsSharedOut) {
  struct Streamed {
    std::uint64_t m, n, k;
    const char* configuration;
  };
  constexpr Streamed kAll[] = {{3072, 3600, 1032, "128x192_2x1_s5_turn_streamk"},
                               {2560, 2400, 1032, "128x192_2x1_s5_turn_streamk"},
                               {1664, 3072, 4104, "128x256_2x1_s4_streamk"}};
  for (const Streamed& one : kAll)
    for (const GemmElement element : {GemmElement::bf16, GemmElement::f16})
      for (const Major a_major : {Major::k, Major::mn})
        for (const Major b_major : {Major::k, Major::mn})
          for (const GemmOutput output : kOutputs) {
            Gemm gemm = whole(one.m, one.n, one.k);
            gemm.element = element;
            gemm.output = output;
            gemm.a_major = a_major;
            gemm.b_major = b_major;
            if (output != GemmOutput::f16) gemm.alpha = 0.5F;  // else some have a plain kernel
            if (output == GemmOutput::f32) gemm.beta = -2;
            expect_like_reference(gemm, one.configuration);
          }
}

}  // namespace
}  // namespace tidemark
