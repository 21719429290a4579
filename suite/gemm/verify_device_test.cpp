// Verification against a second result, and by a device where a product is too large for the host.
#include "suite/gemm/verify.hpp"

#include <gtest/gtest.h>

#include <variant>
#include <vector>

#include "kernels/error.hpp"
#include "suite/testing/tampered_product.hpp"

namespace tidemark {
namespace {

/// Hands back what it is told, whatever it is asked.
class CannedDevice : public Device {
 public:
  RunResult run(const Op& op) override {
    asked.push_back(std::get<Gemm>(op));
    return answer;
  }
  std::vector<RunResult> run_programs(std::span<const Program>) override { return {}; }
  Measurement measure(const Op&, const Timing&) override { return {}; }

  RunResult answer;
  std::vector<Gemm> asked;
};

TEST(VerifyAgainst, AcceptsTheReferenceEngineAndFindsOneBit) {
  Gemm gemm = integers(70, 65, 71);
  const RunResult result = right(gemm);
  Gemm plain = gemm;
  plain.engine = GemmEngine::reference;
  RunResult reference = right(plain);
  EXPECT_TRUE(verify_against(gemm, result, reference, 0).empty());
  reference.bytes[4 * (69 * 65 + 3)] ^= 1;
  const auto found = verify_against(gemm, result, reference, 3);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].row, 3U);
  EXPECT_EQ(found[0].coordinate[0], 69);
  EXPECT_EQ(found[0].coordinate[1], 3);
}

TEST(VerifyAgainst, TakesZerosOfEitherSign) {
  const Gemm gemm = integers(20, 30, 4);
  const RunResult reference = right(gemm);
  RunResult result = reference;
  std::size_t zeros = 0;
  for (std::size_t i = 0; i < 600; ++i)
    if (f32_at(result, i) == 0) {
      set_f32(result, i, -0.0F);
      ++zeros;
    }
  ASSERT_GT(zeros, 0U);
  EXPECT_TRUE(verify_against(gemm, result, reference, 0).empty());
}

TEST(VerifyAgainst, ShortResultIsWrongAndShortReferenceIsAnError) {
  const Gemm gemm = integers(7, 6, 5);
  const RunResult good = right(gemm);
  RunResult cut = good;
  cut.bytes.pop_back();
  EXPECT_EQ(verify_against(gemm, cut, good, 0).size(), 1U);
  EXPECT_THROW(verify_against(gemm, good, cut, 0), Error);
}

// 2.2 x 10^9 products; the host multiplies up to 2^31 of them.
Gemm too_large_for_the_host() { return integers(1300, 1300, 1300); }

TEST(VerifyWithDevice, ComputesIntegersTooLargeForTheHostAgain) {
  const Gemm gemm = too_large_for_the_host();
  const RunResult result = right(gemm);
  CannedDevice device;
  device.answer = result;
  EXPECT_TRUE(verify_gemm(gemm, result, 0, device).empty());
  ASSERT_EQ(device.asked.size(), 1U);
  EXPECT_EQ(device.asked[0].engine, GemmEngine::reference);
  EXPECT_EQ(device.asked[0].transport, nullptr);
  device.answer.bytes[400] ^= 4;
  EXPECT_EQ(verify_gemm(gemm, result, 0, device).size(), 1U);
  device.answer.fault = DeviceFault::timeout;
  EXPECT_THROW(verify_gemm(gemm, result, 0, device), Error);
}

TEST(VerifyWithDevice, HoldsLargeBf16ProductsAgainstFp32SumsOfTheReferenceEngine) {
  Gemm gemm = normals(520, 512, 512);
  CannedDevice device;
  device.answer = right(gemm);
  gemm.output = GemmOutput::bf16;
  RunResult result = right(gemm);
  EXPECT_TRUE(verify_gemm(gemm, result, 0, device).empty());
  ASSERT_EQ(device.asked.size(), 1U);
  EXPECT_EQ(device.asked[0].output, GemmOutput::f32);
  // Two units in the last place of one element: neither a sample nor its row's sum shows that.
  set_bf16(result, 1234, static_cast<std::uint16_t>(bf16_at(result, 1234) + 2));
  EXPECT_TRUE(verify_gemm(gemm, result, 0).empty());
  const auto found = verify_gemm(gemm, result, 0, device);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].coordinate[0], 2);
  EXPECT_EQ(found[0].coordinate[1], 210);
}

TEST(VerifyWithDevice, HoldsLargeFp16ProductsAgainstFp32SumsToo) {
  Gemm gemm = normals(520, 512, 512);
  gemm.element = GemmElement::f16;
  gemm.a_major = Major::mn;
  CannedDevice device;
  device.answer = right(gemm);
  gemm.output = GemmOutput::f16;
  RunResult result = right(gemm);
  EXPECT_TRUE(verify_gemm(gemm, result, 0, device).empty());
  ASSERT_EQ(device.asked.size(), 1U);
  EXPECT_EQ(device.asked[0].output, GemmOutput::f32);
  EXPECT_EQ(device.asked[0].a_major, Major::mn);
  set_bf16(result, 123456, static_cast<std::uint16_t>(bf16_at(result, 123456) + 2));
  EXPECT_EQ(verify_gemm(gemm, result, 0, device).size(), 1U);
}

TEST(VerifyWithDevice, TakesSumsThatAnotherOrderOfAdditionExplainsAndNoOthers) {
  const Gemm gemm = normals(520, 512, 512);
  RunResult result = right(gemm);
  CannedDevice device;
  device.answer = result;
  const float value = f32_at(result, 1234);
  set_f32(device.answer, 1234, value + 0.0001F);  // a typical one is 23, its last place 2e-6
  EXPECT_TRUE(verify_gemm(gemm, result, 0, device).empty());
  set_f32(device.answer, 1234, value + 0.01F);
  EXPECT_EQ(verify_gemm(gemm, result, 0, device).size(), 1U);
}

TEST(VerifyWithDevice, AsksTheDeviceForNothingThatTheHostComputes) {
  const Gemm gemm = integers(20, 30, 40);
  CannedDevice device;
  EXPECT_TRUE(verify_gemm(gemm, right(gemm), 0, device).empty());
  EXPECT_TRUE(device.asked.empty());
}

}  // namespace
}  // namespace tidemark
