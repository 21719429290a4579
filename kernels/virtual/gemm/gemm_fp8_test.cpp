// Products of e4m3 and e5m2 on the virtual device, against their definition, and what is refused.
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "kernels/error.hpp"
#include "kernels/virtual/gemm/gemm_multiply.hpp"
#include "kernels/virtual/virtual_device.hpp"

namespace tidemark {
namespace {

Gemm product(GemmElement element, std::uint64_t k) {
  Gemm gemm = whole_product({33, 70, k}, GemmInputs::small_integers);
  gemm.seed = 11;
  gemm.element = element;
  return gemm;
}

double defined(const Gemm& gemm, std::uint64_t i, std::uint64_t j) {
  const auto value = [&](GemmOperand operand, std::uint64_t row, std::uint64_t k) {
    return double{from_element(
        gemm.element, gemm_element(gemm.inputs, operand, gemm.seed, row, k, gemm.element))};
  };
  double sum = 0;
  for (std::uint64_t k = 0; k < gemm.k; ++k)
    sum += value(GemmOperand::a, i, k) * value(GemmOperand::b, j, k);
  return sum;
}

/// Elements of fp32 that are not what the definition says.
std::size_t wrong_elements(const Gemm& gemm, Fault fault = kNoFault) {
  const RunResult result = run_virtual_gemm(gemm, fault);
  std::size_t wrong = 0;
  for (std::uint64_t i = 0; i < gemm.m; ++i)
    for (std::uint64_t j = 0; j < gemm.n; ++j) {
      float value = 0;
      std::memcpy(&value, result.bytes.data() + (i * gemm.n + j) * sizeof value, sizeof value);
      if (value != defined(gemm, i, j)) ++wrong;
    }
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

TEST(Fp8Gemm, SmallIntegersAreExact) {
  EXPECT_EQ(wrong_elements(product(GemmElement::e4m3, 200)), 0U);
  EXPECT_EQ(wrong_elements(product(GemmElement::e5m2, 131)), 0U);
}

TEST(Fp8Gemm, ReferenceEngineIsExactToo) {
  Gemm gemm = product(GemmElement::e4m3, 131);
  gemm.engine = GemmEngine::reference;
  EXPECT_EQ(wrong_elements(gemm), 0U);
}

TEST(Fp8Gemm, SumsBeyondFourteenBitsAreExact) {
  Gemm gemm = product(GemmElement::e4m3, 2048);
  gemm.inputs = GemmInputs::octal_digits;
  ASSERT_GT(defined(gemm, 0, 0), 16384);
  EXPECT_EQ(wrong_elements(gemm), 0U);
}

TEST(Fp8Gemm, RowsMayLieSixteenElementsApart) {
  Gemm gemm = product(GemmElement::e5m2, 131);
  gemm.lda = 160;
  gemm.ldb = 144;
  EXPECT_EQ(wrong_elements(gemm), 0U);
}

TEST(Fp8Gemm, RowsAreRoundedUpToSixteenBytes) {
  EXPECT_EQ(layout_of(product(GemmElement::e4m3, 131), GemmOperand::a).pitch, 144U);
  EXPECT_EQ(layout_of(product(GemmElement::bf16, 131), GemmOperand::a).pitch, 136U);
}

TEST(Fp8Gemm, SumsThatAreNotPromotedAreWrongOnlyWhereTheyAreLong) {
  Gemm gemm = product(GemmElement::e4m3, 2048);
  EXPECT_EQ(wrong_elements(gemm, kFaultGemmUnpromoted), 0U) << "small integers cancel out";
  gemm.inputs = GemmInputs::octal_digits;
  EXPECT_GT(wrong_elements(gemm, kFaultGemmUnpromoted), 700U);
  gemm.element = GemmElement::f16;
  EXPECT_EQ(wrong_elements(gemm, kFaultGemmUnpromoted), 0U) << "fp16 is not promoted";
}

TEST(Fp8Gemm, PartialSumsThatAreKeptAreWrongBehindTheFirst) {
  EXPECT_EQ(wrong_elements(product(GemmElement::e4m3, 128), kFaultGemmPartialKept), 0U);
  EXPECT_GT(wrong_elements(product(GemmElement::e4m3, 129), kFaultGemmPartialKept), 2000U);
}

TEST(Fp8Gemm, TypesAreNotTheSame) {
  EXPECT_EQ(wrong_elements(product(GemmElement::e4m3, 72), kFaultGemmE5m2AsE4m3), 0U);
  EXPECT_GT(wrong_elements(product(GemmElement::e5m2, 72), kFaultGemmE5m2AsE4m3), 2000U);
}

TEST(Fp8Gemm, OperandsThatAreNotKMajorAreRefused) {
  Gemm gemm = product(GemmElement::e4m3, 128);
  gemm.b_major = Major::mn;
  EXPECT_EQ(refusal_of(gemm),
            "gemm: e4m3 and e5m2 are multiplied K-major only: transpose the operand, or take bf16 "
            "or fp16");
}

TEST(Fp8Gemm, RowsThatStartOffSixteenBytesAreRefused) {
  Gemm gemm = product(GemmElement::e5m2, 128);
  gemm.lda = 136;
  EXPECT_EQ(refusal_of(gemm),
            "gemm: lda of e4m3 and e5m2 is a multiple of 16: rows that start off 16 bytes are "
            "packed for bf16 and fp16 only");
  gemm.lda = 144;
  gemm.ldb = 129;
  EXPECT_EQ(refusal_of(gemm),
            "gemm: ldb of e4m3 and e5m2 is a multiple of 16: rows that start off 16 bytes are "
            "packed for bf16 and fp16 only");
}

TEST(Fp8Gemm, InfinitiesOfE4m3AreRefused) {
  Gemm gemm = product(GemmElement::e4m3, 128);
  gemm.planted = {{GemmOperand::a, 0, 0, NonFinite::infinity}};
  EXPECT_EQ(refusal_of(gemm), "gemm: e4m3 has no infinities: plant a NaN, or take e5m2");
  gemm.element = GemmElement::e5m2;
  EXPECT_EQ(refusal_of(gemm), "not refused");
}

TEST(Fp8Gemm, RungsAreForBf16) {
  Gemm gemm = product(GemmElement::e4m3, 128);
  gemm.rung = GemmRung::tma_store;
  EXPECT_EQ(refusal_of(gemm), "gemm: a rung of the ladder does C = A B^T with bf16 only");
}

/// A transport that is never asked for anything.
class UnusedTransport : public Transport {
 public:
  void start(const PanelBuffer&) override {}
  bool ready(std::uint32_t, std::size_t) override { return false; }
  void abort() noexcept override {}
};

TEST(Fp8Gemm, PanelsOverATransportArePacked) {
  UnusedTransport transport;
  Gemm gemm = product(GemmElement::e4m3, 128);
  gemm.transport = &transport;
  gemm.lda = 256;
  EXPECT_EQ(refusal_of(gemm),
            "gemm: over a transport packed, K-major panels of at least one k are multiplied");
}

}  // namespace
}  // namespace tidemark
