// Rows of A, B and C that start on any element, on the GPU: each kind of product against its
// definition, with NaN between, before and behind the rows of A and B and poison around those of C.
#include <cstring>
#include <vector>

#include "kernels/cuda/gemm/cuda_gemm.hpp"
#include "kernels/cuda/gemm/engine/engine.hpp"
#include "kernels/cuda/gpu_test.hpp"
#include "kernels/ops/payload.hpp"

namespace tidemark {
namespace {

Gemm whole(std::uint64_t m, std::uint64_t n, std::uint64_t k, GemmOutput output) {
  Gemm gemm = whole_product({m, n, k}, GemmInputs::small_integers);
  gemm.output = output;
  gemm.seed = 7;
  return gemm;
}

float defined(const Gemm& gemm, std::uint64_t i, std::uint64_t j) {
  float sum = 0;
  for (std::uint64_t k = 0; k < gemm.k; ++k)
    sum += gemm_value(gemm.inputs, GemmOperand::a, gemm.seed, i, k) *
           gemm_value(gemm.inputs, GemmOperand::b, gemm.seed, j, k);
  if (gemm.beta == 0) return gemm.alpha * sum;
  return gemm.alpha * sum + gemm.beta * gemm_value(gemm.inputs, GemmOperand::c, gemm.seed, i, j);
}

/// C as its definition has it, without padding.
std::vector<std::uint8_t> defined_bytes(const Gemm& gemm) {
  const std::size_t size = c_element_bytes(gemm.output);
  std::vector<std::uint8_t> bytes(gemm.m * gemm.n * size);
  for (std::uint64_t i = 0; i < gemm.m; ++i)
    for (std::uint64_t j = 0; j < gemm.n; ++j) {
      const float value = defined(gemm, i, j) + 0.0F;  // no zero of negative sign
      std::uint32_t bits = 0;
      std::memcpy(&bits, &value, sizeof bits);
      if (gemm.output == GemmOutput::bf16) bits = to_bf16(value);
      if (gemm.output == GemmOutput::f16) bits = to_f16(value);
      std::memcpy(bytes.data() + (i * gemm.n + j) * size, &bits, size);
    }
  return bytes;
}

/// Zeros of either sign become the positive one.
std::vector<std::uint8_t> without_negative_zeros(const Gemm& gemm,
                                                 std::vector<std::uint8_t> bytes) {
  const std::size_t size = c_element_bytes(gemm.output);
  const std::uint32_t negative = size == 4 ? 0x80000000U : 0x8000U;
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, bytes.data() + at, size);
    if (bits == negative) std::memset(bytes.data() + at, 0, size);
  }
  return bytes;
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
  SCOPED_TRACE(testing::Message() << gemm.m << " x " << gemm.n << " x " << gemm.k << ", ld "
                                  << gemm.lda << ", " << gemm.ldb << ", " << gemm.ldc << ", type "
                                  << static_cast<int>(gemm.element) << " to "
                                  << static_cast<int>(gemm.output) << ", majors "
                                  << static_cast<int>(gemm.a_major)
                                  << static_cast<int>(gemm.b_major) << ", configuration "
                                  << gemm.configuration);
  const RunResult result = run_gemm(gemm);
  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  EXPECT_TRUE(without_negative_zeros(gemm, result.bytes) == defined_bytes(gemm)) << result.note;
  expect_surroundings_intact(gemm, result);
}

void expect_like_reference(Gemm gemm) {
  SCOPED_TRACE(testing::Message() << "configuration " << gemm.configuration);
  const RunResult engine = run_gemm(gemm);
  ASSERT_EQ(engine.fault, DeviceFault::none) << engine.note;
  expect_surroundings_intact(gemm, engine);
  gemm.engine = GemmEngine::reference;
  const RunResult reference = run_gemm(gemm);
  ASSERT_EQ(reference.fault, DeviceFault::none) << reference.note;
  EXPECT_TRUE(without_negative_zeros(gemm, engine.bytes) ==
              without_negative_zeros(gemm, reference.bytes))
      << engine.note;
}

constexpr GemmOutput kOutputs[] = {GemmOutput::f32, GemmOutput::bf16, GemmOutput::f16};

class PitchGpuGemm : public GpuTest {};

TEST_F(PitchGpuGemm, RowsOfA) {
  for (std::uint64_t more = 0; more <= 9; ++more) {
    Gemm gemm = whole(67, 72, 71, GemmOutput::bf16);
    gemm.lda = 71 + more;
    expect_defined(gemm);
  }
}

TEST_F(PitchGpuGemm, RowsOfB) {
  for (std::uint64_t more = 0; more <= 9; ++more) {
    Gemm gemm = whole(67, 72, 71, GemmOutput::bf16);
    gemm.ldb = 71 + more;
    expect_defined(gemm);
  }
}

TEST_F(PitchGpuGemm, RowsOfC) {
  for (const GemmOutput output : kOutputs)
    for (std::uint64_t more = 0; more <= 9; ++more) {
      Gemm gemm = whole(67, 71, 72, output);
      gemm.ldc = 71 + more;
      expect_defined(gemm);
    }
}

TEST_F(PitchGpuGemm, EveryTailOfKWithTightRows) {
  for (std::uint64_t k = 1; k <= 17; ++k) {
    Gemm gemm = whole(33, 40, k, GemmOutput::f32);
    gemm.lda = k;
    gemm.ldb = k;
    expect_defined(gemm);
  }
}

TEST_F(PitchGpuGemm, EveryTailOfNWithTightRows) {
  for (const GemmOutput output : kOutputs)
    for (std::uint64_t n = 1; n <= 17; ++n) {
      Gemm gemm = whole(33, n, 40, output);
      gemm.ldc = n;
      expect_defined(gemm);
    }
}

TEST_F(PitchGpuGemm, WidthsAroundABoxAndATile) {
  for (const GemmOutput output : kOutputs)
    for (const std::uint64_t n : {31U, 32U, 33U, 63U, 64U, 65U, 127U, 129U, 255U, 256U, 257U}) {
      Gemm gemm = whole(17, n, 40, output);
      gemm.ldc = n + 1;
      expect_defined(gemm);
    }
}

TEST_F(PitchGpuGemm, EveryKindOfProduct) {
  bool blends = false;
  for (const GemmElement element : {GemmElement::bf16, GemmElement::f16})
    for (const Major a : {Major::k, Major::mn})
      for (const Major b : {Major::k, Major::mn})
        for (const GemmOutput output : kOutputs) {
          Gemm gemm = whole(131, 259, 71, output);
          gemm.element = element;
          gemm.a_major = a;
          gemm.b_major = b;
          gemm.lda = (a == Major::k ? 71 : 131) + 2;
          gemm.ldb = b == Major::k ? 71 : 259;
          gemm.ldc = 261;
          gemm.alpha = 0.5F;
          gemm.beta = blends ? -2.0F : 0.0F;
          blends = !blends;
          expect_defined(gemm);
        }
}

TEST_F(PitchGpuGemm, BetaTakesCWhereverItsRowsStart) {
  for (const GemmOutput output : kOutputs)
    for (const std::uint64_t ldc : {259U, 260U, 261U, 262U}) {
      Gemm gemm = whole(131, 259, 72, output);
      gemm.ldc = ldc;
      gemm.beta = 2;
      expect_defined(gemm);
    }
}

TEST_F(PitchGpuGemm, OneElement) {
  Gemm gemm = whole(1, 1, 1, GemmOutput::bf16);
  gemm.lda = 1;
  gemm.ldb = 3;
  gemm.ldc = 1;
  expect_defined(gemm);
}

TEST_F(PitchGpuGemm, NormalNumbersGiveTheSameBitsWhereRowsArePacked) {
  Gemm gemm = whole(500, 600, 2056, GemmOutput::f32);
  gemm.inputs = GemmInputs::normal;
  gemm.configuration = 1;
  const RunResult on_16_bytes = run_gemm(gemm);
  ASSERT_EQ(on_16_bytes.fault, DeviceFault::none) << on_16_bytes.note;
  gemm.lda = gemm.ldb = 2057;
  gemm.ldc = 601;
  const RunResult packed = run_gemm(gemm);
  ASSERT_EQ(packed.fault, DeviceFault::none) << packed.note;
  EXPECT_NE(packed.note.find("rows of A and B packed"), std::string::npos) << packed.note;
  EXPECT_TRUE(packed.bytes == on_16_bytes.bytes);
}

TEST_F(PitchGpuGemm, EveryConfiguration) {
  for (std::uint32_t i = 1; i <= engine_configurations().size(); ++i)
    for (const GemmOutput output : {GemmOutput::f32, GemmOutput::bf16}) {
      Gemm gemm = whole(300, 521, 327, output);
      gemm.configuration = i;
      gemm.lda = 329;
      gemm.ldb = 327;
      gemm.ldc = 523;
      expect_like_reference(gemm);
    }
}

TEST_F(PitchGpuGemm, ManyTilesOfEveryConfiguration) {
  for (std::uint32_t i = 1; i <= engine_configurations().size(); ++i) {
    Gemm gemm = whole(2047, 4097, 1031, GemmOutput::bf16);
    gemm.configuration = i;
    gemm.lda = 1031;
    gemm.ldb = 1033;
    gemm.ldc = 4097;
    expect_like_reference(gemm);
  }
}

// 1278 tiles of 128 x 256 and more of any other.
TEST_F(PitchGpuGemm, ManyRoundsOfEveryConfiguration) {
  for (std::uint32_t i = 1; i <= engine_configurations().size(); ++i) {
    Gemm gemm = whole(9001, 4399, 843, GemmOutput::bf16);
    gemm.configuration = i;
    gemm.lda = 845;
    gemm.ldb = 843;
    gemm.ldc = 4399;
    expect_like_reference(gemm);
  }
}

TEST_F(PitchGpuGemm, ManyRoundsWithOneOperandPacked) {
  for (const bool a : {true, false}) {
    Gemm gemm = whole(9001, 4097, 1096, GemmOutput::f32);
    gemm.lda = a ? 1097 : 1096;
    gemm.ldb = a ? 1096 : 1099;
    expect_like_reference(gemm);
  }
}

TEST_F(PitchGpuGemm, ManyRoundsOnFewSms) {
  for (const std::uint32_t sms : {2U, 7U}) {
    Gemm gemm = whole(2047, 4097, 833, GemmOutput::bf16);
    gemm.lda = 833;
    gemm.ldb = 833;
    gemm.sm_budget = sms;
    expect_like_reference(gemm);
  }
}

TEST_F(PitchGpuGemm, ManyRoundsBackToBackLeaveTheSame) {
  Gemm gemm = whole(9001, 4097, 833, GemmOutput::bf16);
  gemm.lda = 833;
  gemm.ldb = 833;
  const Measurement measured = measure_gemm(gemm, {.warmups = 5, .samples = 20});
  ASSERT_EQ(measured.fault, DeviceFault::none) << measured.note;
  const RunResult once = run_gemm(gemm);
  EXPECT_TRUE(measured.last.bytes == once.bytes);
}

TEST_F(PitchGpuGemm, ManyTilesThatAreBlended) {
  Gemm gemm = whole(2047, 1025, 1031, GemmOutput::f16);
  gemm.element = GemmElement::f16;
  gemm.a_major = Major::mn;
  gemm.lda = 2047;
  gemm.ldb = 1031;
  gemm.ldc = 1025;
  gemm.alpha = 0.25F;
  gemm.beta = 3;
  expect_like_reference(gemm);
}

TEST_F(PitchGpuGemm, LaunchedBackToBackItLeavesTheSame) {
  Gemm gemm = whole(500, 601, 1031, GemmOutput::bf16);
  gemm.lda = 1031;
  gemm.ldb = 1031;
  gemm.ldc = 601;
  const Measurement measured = measure_gemm(gemm, {.warmups = 5, .samples = 20});
  ASSERT_EQ(measured.fault, DeviceFault::none) << measured.note;
  const RunResult once = run_gemm(gemm);
  EXPECT_TRUE(measured.last.bytes == once.bytes);
  expect_surroundings_intact(gemm, measured.last);
}

TEST_F(PitchGpuGemm, ReferenceIsWhatIsDefined) {
  Gemm gemm = whole(37, 67, 71, GemmOutput::bf16);
  gemm.engine = GemmEngine::reference;
  gemm.lda = 73;
  gemm.ldb = 71;
  gemm.ldc = 69;
  expect_defined(gemm);
}

TEST_F(PitchGpuGemm, NothingToMultiply) {
  Gemm gemm = whole(37, 67, 0, GemmOutput::bf16);
  gemm.lda = 1;
  gemm.ldc = 67;
  gemm.beta = 2;
  expect_defined(gemm);
}

TEST_F(PitchGpuGemm, SaysWhatWasDone) {
  Gemm gemm = whole(20, 30, 72, GemmOutput::bf16);
  gemm.beta = 1;
  gemm.lda = 73;
  gemm.ldc = 31;
  EXPECT_EQ(run_gemm(gemm).note,
            "engine 128x256_2x1_s4_m8_lead1_early; rows of A packed; C stored row by row");
}

}  // namespace
}  // namespace tidemark
