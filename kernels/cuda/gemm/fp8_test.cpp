// fp8 as tidemark rounds and reads it, against what the CUDA headers do, and the engine's tables.
#include <cuda_fp8.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "kernels/cuda/gemm/engine/engine.hpp"
#include "kernels/cuda/gemm/tuning/choice.hpp"
#include "kernels/error.hpp"
#include "kernels/ops/gemm/gemm_inputs.hpp"

namespace tidemark {
namespace {

/// Every sign and exponent of fp32 with significands near the ends and the ties of fp8.
std::vector<float> numbers_around_fp8() {
  std::vector<float> values;
  for (std::uint32_t upper = 0; upper < 1U << 16; ++upper)
    for (const std::uint32_t lower : {0U, 1U, 0x7fffU, 0x8000U, 0xffffU}) {
      const auto value = std::bit_cast<float>(upper << 16 | lower);
      if (!std::isnan(value)) values.push_back(value);
    }
  return values;
}

std::uint16_t rounded_by_cuda(float value, __nv_fp8_interpretation_t type) {
  return __nv_cvt_float_to_fp8(value, __NV_SATFINITE, type);
}

bool same_number(float left, float right) {
  return left == right || (std::isnan(left) && std::isnan(right));
}

TEST(Fp8Conversion, RoundsToE4m3AsCudaDoes) {
  for (const float value : numbers_around_fp8())
    ASSERT_EQ(to_e4m3(value), rounded_by_cuda(value, __NV_E4M3)) << value;
}

TEST(Fp8Conversion, RoundsToE5m2AsCudaDoes) {
  for (const float value : numbers_around_fp8())
    ASSERT_EQ(to_e5m2(value), rounded_by_cuda(value, __NV_E5M2)) << value;
}

TEST(Fp8Conversion, ReadsBothTypesAsCudaDoes) {
  for (std::uint32_t bits = 0; bits < 0x100; ++bits) {
    __nv_fp8_e4m3 e4m3;
    __nv_fp8_e5m2 e5m2;
    e4m3.__x = static_cast<__nv_fp8_storage_t>(bits);
    e5m2.__x = static_cast<__nv_fp8_storage_t>(bits);
    const auto half = static_cast<std::uint16_t>(bits);
    EXPECT_TRUE(same_number(from_e4m3(half), static_cast<float>(e4m3))) << bits;
    EXPECT_TRUE(same_number(from_e5m2(half), static_cast<float>(e5m2))) << bits;
  }
}

LocalGemm product(GemmElement element) {
  return {.pitch = 256, .ldc = 64, .m = 64, .n = 64, .k = 256, .element = element};
}

TEST(Fp8Engine, HasAKernelForBothTypesAndEveryTypeOfC) {
  const auto kernels = fp8_kernels();
  for (const EngineConfiguration& configuration : fp8_configurations())
    for (const GemmElement element : {GemmElement::e4m3, GemmElement::e5m2})
      for (const GemmOutput output : {GemmOutput::f32, GemmOutput::bf16, GemmOutput::f16})
        EXPECT_TRUE(std::any_of(kernels.begin(), kernels.end(),
                                [&](const EngineKernel& kernel) {
                                  return kernel.element == element && kernel.output == output &&
                                         kernel.general && kernel.shape == configuration.shape;
                                }))
            << name_of(configuration) << ' ' << name_of(element);
}

TEST(Fp8Engine, TriesEveryKernelByAConfiguration) {
  const auto all = fp8_configurations();
  for (const EngineKernel& kernel : fp8_kernels())
    EXPECT_TRUE(std::any_of(all.begin(), all.end(),
                            [&](const auto& one) { return one.shape == kernel.shape; }));
}

TEST(Fp8Engine, HasConfigurationsThatAreSoundAndHaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const EngineConfiguration& configuration : fp8_configurations()) {
    EXPECT_TRUE(is_sound(configuration.shape)) << name_of(configuration);
    EXPECT_FALSE(configuration.shape.ping_pong) << name_of(configuration);
    EXPECT_TRUE(names.insert(name_of(configuration)).second) << name_of(configuration);
  }
}

// 40 beside the sums: is_sound() counts none that are held twice.
TEST(Fp8Engine, HasShapesWhoseThreadsHoldTheSumsTheyPromoteTwice) {
  for (const EngineConfiguration& configuration : fp8_configurations())
    EXPECT_LE(accumulators(configuration.shape) + promoted_at_once(configuration.shape) + 40,
              kConsumerRegisters)
        << name_of(configuration);
}

EngineConfiguration chosen_for(std::uint64_t m, std::uint64_t n, std::uint64_t k) {
  LocalGemm gemm = product(GemmElement::e4m3);
  gemm.m = m;
  gemm.n = n;
  gemm.k = k;
  return chosen_configuration(embedded_gemm_table(), gemm);
}

// What is chosen is also tried, and so tested on a GPU.
TEST(Fp8Engine, ChoosesOneOfItsConfigurations) {
  const auto all = fp8_configurations();
  for (const std::uint64_t n : {64U, 2048U, 4096U, 8192U}) {
    const EngineConfiguration chosen = chosen_for(n, n, n);
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](EngineConfiguration one) {
      one.gpc_rows = chosen.gpc_rows;  // small GEMMs have no tiles by GPC
      return one == chosen;
    })) << name_of(chosen);
  }
}

// 1376 tiles of 256 x 192 are 20.8 waves of 66, 1200 are 18.2.
TEST(Fp8Engine, SharesOutTheKOfTheLastTiles) {
  for (const EngineConfiguration& chosen :
       {chosen_for(8192, 8192, 8192), chosen_for(4096, 14336, 4096)}) {
    EXPECT_EQ(chosen.shape, kFp8Narrower);
    EXPECT_TRUE(chosen.stream_k);
  }
}

// 256 tiles of 256 x 256 are 3.9 waves; 22 of 192 columns reach past 4096 by 3 %.
TEST(Fp8Engine, ChoosesWholeTilesWhereTheyFillTheirWaves) {
  for (const EngineConfiguration& chosen :
       {chosen_for(4096, 4096, 4096), chosen_for(2048, 2048, 2048)}) {
    EXPECT_EQ(chosen.shape, kFp8Wide);
    EXPECT_FALSE(chosen.stream_k);
  }
}

TEST(Fp8Engine, ChoosesWideTilesThatEndWithCWhereTheirWavesAreNotFull) {
  EXPECT_EQ(chosen_for(8192, 4096, 8192).shape, kFp8Wide);
  EXPECT_TRUE(chosen_for(8192, 4096, 8192).stream_k);
}

TEST(Fp8Engine, ChoosesNoEarlyLaunchWithinABudgetOfSms) {
  LocalGemm gemm = product(GemmElement::e4m3);
  gemm.sm_budget = 2;
  EXPECT_FALSE(chosen_configuration(embedded_gemm_table(), gemm).pdl);
}

TEST(Fp8Engine, PacksNothing) {
  LocalGemm gemm = product(GemmElement::e5m2);
  gemm.pitch = 257;
  EXPECT_EQ(engine_workspace_bytes(gemm), 0U);
}

std::string refusal_of(const LocalGemm& gemm) {
  try {
    (void)prepare_engine(chosen_configuration(embedded_gemm_table(), gemm), gemm);
  } catch (const Error& error) {
    return error.what();
  }
  return "not refused";
}

constexpr const char* kRefusal =
    "gemm: operands of e4m3 and e5m2 are K-major, with rows that start on 16 bytes";

TEST(Fp8Engine, RefusesRowsOff16Bytes) {
  LocalGemm gemm = product(GemmElement::e4m3);
  gemm.pitch = 264;
  gemm.b_pitch = 256;
  EXPECT_EQ(refusal_of(gemm), kRefusal);
  gemm.pitch = 256;
  gemm.b_pitch = 257;
  EXPECT_EQ(refusal_of(gemm), kRefusal);
}

TEST(Fp8Engine, RefusesMemoryOff16Bytes) {
  LocalGemm gemm = product(GemmElement::e5m2);
  gemm.b += 8;
  EXPECT_EQ(refusal_of(gemm), kRefusal);
}

TEST(Fp8Engine, RefusesOperandsThatAreNotKMajor) {
  LocalGemm gemm = product(GemmElement::e4m3);
  gemm.b_major = Major::mn;
  EXPECT_EQ(refusal_of(gemm), kRefusal);
}

}  // namespace
}  // namespace tidemark
