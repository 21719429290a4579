// Every configuration of fp8 on the GPU, held against the reference engine on digits: sums that are
// exact only if they are promoted, and then in every order.
#include <string>

#include "kernels/cuda/gemm/cuda_gemm.hpp"
#include "kernels/cuda/gemm/engine/engine.hpp"
#include "kernels/cuda/gpu_test.hpp"
#include "kernels/ops/gemm/gemm.hpp"

namespace tidemark {
namespace {

/// Parameter: number of the configuration, from 1.
class Fp8Configuration : public GpuTest, public testing::WithParamInterface<std::uint32_t> {
 protected:
  Gemm digits(std::uint64_t m, std::uint64_t n, std::uint64_t k, GemmElement element) const {
    Gemm gemm = whole_product({m, n, k}, GemmInputs::octal_digits);
    gemm.configuration = GetParam();
    gemm.seed = 7;
    gemm.element = element;
    return gemm;
  }
};

void expect_like_reference(Gemm gemm) {
  const RunResult engine = run_gemm(gemm);
  ASSERT_EQ(engine.fault, DeviceFault::none) << engine.note;
  gemm.engine = GemmEngine::reference;
  const RunResult reference = run_gemm(gemm);
  ASSERT_EQ(reference.fault, DeviceFault::none) << reference.note;
  ASSERT_EQ(engine.bytes.size(), gemm.m * gemm.n * c_element_bytes(gemm.output));
  EXPECT_TRUE(engine.bytes == reference.bytes) << gemm.m << " x " << gemm.n << " x " << gemm.k;
  EXPECT_TRUE(engine.surroundings == reference.surroundings) << "written outside C";
}

TEST_P(Fp8Configuration, IsWhatRuns) {
  const RunResult result = run_gemm(digits(20, 30, 72, GemmElement::e4m3));
  EXPECT_EQ(result.note, "engine " + name_of(fp8_configurations()[GetParam() - 1]));
}

TEST_P(Fp8Configuration, OneElement) { expect_like_reference(digits(1, 1, 1, GemmElement::e5m2)); }

TEST_P(Fp8Configuration, OneLessAndOneMoreThanATile) {
  expect_like_reference(digits(127, 191, 127, GemmElement::e4m3));
  expect_like_reference(digits(257, 385, 2049, GemmElement::e5m2));
}

TEST_P(Fp8Configuration, KEndsAnywhereWithinABlock) {
  for (const std::uint64_t k : {31U, 32U, 33U, 64U, 96U, 97U, 127U, 129U, 160U, 224U, 333U})
    expect_like_reference(digits(300, 272, k, GemmElement::e4m3));
}

TEST_P(Fp8Configuration, ManyTilesAndALongK) {
  for (const GemmOutput output : {GemmOutput::f32, GemmOutput::bf16}) {
    Gemm gemm = digits(6400, 2100, 2056, GemmElement::e4m3);
    gemm.output = output;
    expect_like_reference(gemm);
  }
}

TEST_P(Fp8Configuration, AlphaBetaAndRowsOfCAnywhere) {
  Gemm gemm = digits(300, 259, 520, GemmElement::e5m2);
  gemm.alpha = 0.5F;
  gemm.beta = -2;
  gemm.ldc = 261;
  expect_like_reference(gemm);
}

// Launches that begin early must not read or write what the one before still works on.
TEST_P(Fp8Configuration, LaunchedBackToBackItLeavesTheSame) {
  const Gemm gemm = digits(500, 600, 1032, GemmElement::e4m3);
  const Measurement measured = measure_gemm(gemm, {.warmups = 5, .samples = 20});
  ASSERT_EQ(measured.fault, DeviceFault::none) << measured.note;
  const RunResult once = run_gemm(gemm);
  EXPECT_TRUE(measured.last.bytes == once.bytes);
}

// A table may name another tile shape for a size: no bit of C may depend on it.
TEST_P(Fp8Configuration, NormalNumbersGiveTheSameBitsInEveryTileShape) {
  for (const GemmElement element : {GemmElement::e4m3, GemmElement::e5m2}) {
    Gemm gemm = digits(500, 600, 2056, element);
    gemm.inputs = GemmInputs::normal;
    const RunResult result = run_gemm(gemm);
    ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
    gemm.configuration = 1;
    const RunResult by_another = run_gemm(gemm);
    ASSERT_EQ(by_another.fault, DeviceFault::none) << by_another.note;
    EXPECT_TRUE(result.bytes == by_another.bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Fp8Configuration,
                         testing::Range(1U, static_cast<unsigned>(fp8_configurations().size()) + 1),
                         [](const auto& which) {
                           return "c" + name_of(fp8_configurations()[which.param - 1]);
                         });

}  // namespace
}  // namespace tidemark
