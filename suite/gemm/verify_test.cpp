// The verification of products must complain about each kind of wrong result, and about no right
// one.
#include "suite/gemm/verify.hpp"
#include "kernels/device.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/error.hpp"
#include "suite/gemm/block.hpp"
#include "suite/gemm/elements.hpp"
#include "suite/gemm/freivalds.hpp"

namespace tidemark {
namespace {

Gemm whole(std::uint64_t m, std::uint64_t n, std::uint64_t k, GemmInputs inputs,
           GemmOutput output = GemmOutput::f32) {
  return {.m = m,
          .n = n,
          .k = k,
          .rows = {0, m},
          .cols = {0, n},
          .inputs = inputs,
          .output = output,
          .seed = 77};
}

Gemm integers(std::uint64_t m, std::uint64_t n, std::uint64_t k) {
  return whole(m, n, k, GemmInputs::small_integers);
}

Gemm normals(std::uint64_t m, std::uint64_t n, std::uint64_t k) {
  return whole(m, n, k, GemmInputs::normal);
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

std::uint16_t bf16_at(const RunResult& result, std::size_t index) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, result.bytes.data() + 2 * index, sizeof bits);
  return bits;
}

void set_bf16(RunResult& result, std::size_t index, std::uint16_t bits) {
  std::memcpy(result.bytes.data() + 2 * index, &bits, sizeof bits);
}

/// Exchanges two rows of an fp32 block.
void swap_rows(RunResult& result, std::size_t cols, std::size_t a, std::size_t b) {
  for (std::size_t j = 0; j < cols; ++j) {
    const float kept = f32_at(result, a * cols + j);
    set_f32(result, a * cols + j, f32_at(result, b * cols + j));
    set_f32(result, b * cols + j, kept);
  }
}

/// A product over fewer k, in the place of one over `gemm.k`.
RunResult with_k(Gemm gemm, std::uint64_t k) {
  gemm.k = k;
  return right(gemm);
}

/// Hands back what it is told, whatever it is asked.
class CannedDevice : public Device {
 public:
  RunResult run(const Op& op) override {
    asked.push_back(std::get<Gemm>(op));
    return answer;
  }
  Measurement measure(const Op&, const Timing&) override { return {}; }

  RunResult answer;
  std::vector<Gemm> asked;
};

TEST(VerifyGemm, AcceptsRightProducts) {
  for (const GemmInputs inputs : {GemmInputs::small_integers, GemmInputs::normal})
    for (const GemmOutput output : {GemmOutput::f32, GemmOutput::bf16})
      for (const auto& gemm :
           {whole(1, 1, 1, inputs, output), whole(3, 5, 7, inputs, output),
            whole(130, 66, 71, inputs, output), whole(40, 30, 4099, inputs, output)}) {
        const auto found = verify_gemm(gemm, right(gemm), 0);
        EXPECT_TRUE(found.empty()) << gemm.m << ": " << found.front().text;
      }
}

TEST(VerifyGemm, AcceptsABlockInTheMiddleOfC) {
  Gemm gemm = integers(100, 90, 33);
  gemm.rows = {16, 70};
  gemm.cols = {89, 1};
  EXPECT_TRUE(verify_gemm(gemm, right(gemm), 0).empty());
}

TEST(VerifyGemm, AcceptsAnEmptyBlock) {
  Gemm gemm = integers(2, 5, 7);
  gemm.rows = {2, 0};
  EXPECT_TRUE(verify_gemm(gemm, right(gemm), 0).empty());
}

TEST(VerifyGemm, FindsOneWrongInteger) {
  Gemm gemm = integers(100, 90, 33);
  gemm.rows = {16, 70};
  gemm.cols = {40, 20};
  RunResult result = right(gemm);
  const float before = f32_at(result, 3 * 20 + 7);
  set_f32(result, 3 * 20 + 7, before + 1);
  const auto found = verify_gemm(gemm, result, 5);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].row, 5U);
  EXPECT_EQ(found[0].what, "C");
  EXPECT_EQ(found[0].coordinate[0], 19);
  EXPECT_EQ(found[0].coordinate[1], 47);
  EXPECT_EQ(found[0].first_offset, 4U * (3 * 20 + 7));
  EXPECT_EQ(found[0].wrong_bytes, 4U);
  EXPECT_EQ(found[0].expected, std::bit_cast<std::uint32_t>(before));
  EXPECT_EQ(found[0].actual, std::bit_cast<std::uint32_t>(before + 1));
  EXPECT_NE(found[0].text.find("C(19, 47): expected "), std::string::npos) << found[0].text;
  EXPECT_NE(found[0].text.find("1 of 1400 elements wrong"), std::string::npos) << found[0].text;
}

TEST(VerifyGemm, FindsOneUnitInTheLastPlaceOfAnInteger) {
  const Gemm gemm = integers(20, 30, 40);
  RunResult result = right(gemm);
  const float value = f32_at(result, 599);
  set_f32(result, 599, std::nextafterf(value, 1e9F));
  EXPECT_EQ(verify_gemm(gemm, result, 0).size(), 1U);
}

TEST(VerifyGemm, TakesZerosOfEitherSign) {
  const Gemm gemm = integers(20, 30, 4);
  RunResult result = right(gemm);
  std::size_t zeros = 0;
  for (std::size_t i = 0; i < 600; ++i)
    if (f32_at(result, i) == 0) {
      set_f32(result, i, -0.0F);
      ++zeros;
    }
  ASSERT_GT(zeros, 0U);
  EXPECT_TRUE(verify_gemm(gemm, result, 0).empty());
}

TEST(VerifyGemm, FindsAnElementThatWasNeverWritten) {
  const Gemm gemm = normals(20, 30, 40);
  RunResult result = right(gemm);
  std::memset(result.bytes.data() + 4 * 31, 0xff, 4);
  const auto found = verify_gemm(gemm, result, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].coordinate[0], 1);
  EXPECT_EQ(found[0].coordinate[1], 1);
  EXPECT_NE(found[0].text.find("never written"), std::string::npos) << found[0].text;
}

TEST(VerifyGemm, FindsAnInfinityOfBf16) {
  const Gemm gemm = whole(20, 30, 40, GemmInputs::normal, GemmOutput::bf16);
  RunResult result = right(gemm);
  set_bf16(result, 599, 0x7f80);
  const auto found = verify_gemm(gemm, result, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].text.find("what was no input"), std::string::npos) << found[0].text;
}

TEST(VerifyGemm, NamesTheFirstOfTheElementsThatManyThreadsFind) {
  const Gemm gemm = integers(1300, 1300, 1);  // 6.8 MB: more than one thread looks for poison
  RunResult result = right(gemm);
  for (const std::size_t index : {1299UL * 1300, 700UL * 1300 + 5, 700UL * 1300 + 1299})
    set_f32(result, index, std::numeric_limits<float>::infinity());
  const auto found = verify_gemm(gemm, result, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].coordinate[0], 700);
  EXPECT_EQ(found[0].coordinate[1], 5);
  EXPECT_EQ(found[0].wrong_bytes, 12U);
  EXPECT_NE(found[0].text.find("3 of 1690000 elements, all within rows 700 to 1299, columns 0"),
            std::string::npos)
      << found[0].text;
}

TEST(VerifyGemm, FindsOneByteWrittenBeforeC) {
  const Gemm gemm = integers(20, 30, 40);
  RunResult result = right(gemm);
  result.surroundings[kGuardBytes - 1] ^= 1;
  const auto found = verify_gemm(gemm, result, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].what, "guard");
  EXPECT_NE(found[0].text.find("1 bytes before C"), std::string::npos) << found[0].text;
}

TEST(VerifyGemm, FindsOneByteWrittenBehindC) {
  const Gemm gemm = integers(20, 30, 40);
  RunResult result = right(gemm);
  result.surroundings[kGuardBytes + 2] ^= 0x80;
  const auto found = verify_gemm(gemm, result, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].text.find("2 bytes behind the end of C"), std::string::npos);
}

TEST(VerifyGemm, FindsMissingGuardsAndAShortBlock) {
  const Gemm gemm = integers(20, 30, 40);
  RunResult result = right(gemm);
  result.bytes.pop_back();
  result.surroundings.clear();
  const auto found = verify_gemm(gemm, result, 0);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].text, "C: the device handed back 2399 bytes where 2400 belong");
  EXPECT_EQ(found[1].what, "guard");
}

TEST(VerifyGemm, FindsExchangedRowsAndSaysWhereTheyLie) {
  const Gemm gemm = integers(40, 30, 20);
  RunResult result = right(gemm);
  swap_rows(result, 30, 7, 9);
  const auto found = verify_gemm(gemm, result, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].text.find("all within rows 7 to 9, columns"), std::string::npos)
      << found[0].text;
}

TEST(VerifyGemm, FindsAMissingTailOfK) {
  const Gemm gemm = normals(40, 30, 71);
  EXPECT_FALSE(verify_gemm(gemm, with_k(gemm, 64), 0).empty());
  EXPECT_FALSE(verify_gemm(gemm, with_k(gemm, 70), 0).empty());
}

TEST(VerifyGemm, FindsBf16CutOffInsteadOfRounded) {
  const Gemm gemm = whole(40, 30, 4099, GemmInputs::small_integers, GemmOutput::bf16);
  RunResult result = right(gemm);
  std::size_t rounded_up = 0;
  while (rounded_up < 1200) {
    const float exact = f32_at(right(integers(40, 30, 4099)), rounded_up);
    if (std::abs(from_bf16(to_bf16(exact))) > std::abs(exact)) break;
    ++rounded_up;
  }
  ASSERT_LT(rounded_up, 1200U);
  set_bf16(result, rounded_up, static_cast<std::uint16_t>(bf16_at(result, rounded_up) - 1));
  EXPECT_EQ(verify_gemm(gemm, result, 0).size(), 1U);
}

TEST(VerifyGemm, FindsANormalElementOffByAThousandth) {
  const Gemm gemm = normals(50, 60, 256);
  RunResult result = right(gemm);
  set_f32(result, 1234, f32_at(result, 1234) + 0.016F);  // a typical one is 16
  const auto found = verify_gemm(gemm, result, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].coordinate[0], 1234 / 60);
  EXPECT_EQ(found[0].coordinate[1], 1234 % 60);
}

TEST(VerifyGemm, FindsANormalBf16ElementOneUnitOff) {
  const Gemm gemm = whole(50, 60, 256, GemmInputs::normal, GemmOutput::bf16);
  RunResult result = right(gemm);
  set_bf16(result, 77, static_cast<std::uint16_t>(bf16_at(result, 77) + 2));
  EXPECT_EQ(verify_gemm(gemm, result, 0).size(), 1U);
}

TEST(VerifyGemm, CountsTheWrongIntegersThatManyThreadsFind) {
  const Gemm gemm = integers(1300, 1300, 1);
  RunResult result = right(gemm);
  for (const std::size_t index : {1299UL * 1300, 5UL * 1300 + 5, 700UL * 1300 + 1299})
    set_f32(result, index, 77);
  const auto found = verify_gemm(gemm, result, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].coordinate[0], 5);
  EXPECT_EQ(found[0].coordinate[1], 5);
  EXPECT_EQ(found[0].wrong_bytes, 12U);
}

TEST(VerifyGemm, FindsOneUnitInTheLastPlaceOfAnFp16AndOfAScaledInteger) {
  Gemm half = whole(20, 30, 40, GemmInputs::small_integers, GemmOutput::f16);
  RunResult result = right(half);
  EXPECT_TRUE(verify_gemm(half, result, 0).empty());
  set_bf16(result, 599, static_cast<std::uint16_t>(bf16_at(result, 599) ^ 1U));
  EXPECT_EQ(verify_gemm(half, result, 0).size(), 1U);
  Gemm scaled = integers(20, 30, 40);
  scaled.alpha = 0.5F;
  EXPECT_FALSE(verify_gemm(scaled, right(integers(20, 30, 40)), 0).empty());
  EXPECT_TRUE(verify_gemm(scaled, right(scaled), 0).empty());
}

/// Moves the first normal element whose rounding went down by 0.2 to 0.4 units to the next number:
/// it is then 0.6 to 0.8 units off, which no rounding to nearest explains. All are positive.
bool round_one_up(const Gemm& gemm, RunResult& result) {
  Gemm exact = gemm;
  exact.output = GemmOutput::f32;
  const RunResult sums = right(exact);
  for (std::size_t i = 0; i < gemm.m * gemm.n; ++i) {
    const std::uint16_t bits = bf16_at(result, i);
    const double value = element_value(gemm.output, bits);
    const double unit = element_value(gemm.output, bits + 1U) - value;
    const double off = (double{f32_at(sums, i)} - value) / unit;
    if (value < 1 || off < 0.2 || off > 0.4) continue;
    set_bf16(result, i, static_cast<std::uint16_t>(bits + 1));
    return true;
  }
  return false;
}

TEST(VerifyGemm, FindsANormalElementRoundedToTheWrongNeighbour) {
  for (const GemmOutput output : {GemmOutput::bf16, GemmOutput::f16}) {
    const Gemm gemm = whole(50, 60, 64, GemmInputs::normal, output);
    RunResult result = right(gemm);
    EXPECT_TRUE(verify_gemm(gemm, result, 0).empty());
    ASSERT_TRUE(round_one_up(gemm, result));
    EXPECT_EQ(verify_gemm(gemm, result, 0).size(), 1U);
  }
}

TEST(VerifySamples, LooksAtAllFourCorners) {
  const Gemm gemm = integers(4000, 4100, 3);
  const RunResult good = right(gemm);
  EXPECT_TRUE(verify_samples(gemm, good, 0).empty());
  for (const std::size_t corner : {0UL, 4099UL, 3999UL * 4100UL, 4000UL * 4100UL - 1}) {
    RunResult bad = good;
    set_f32(bad, corner, f32_at(bad, corner) + 1);
    EXPECT_EQ(verify_samples(gemm, bad, 0).size(), 1U) << corner;
  }
}

TEST(VerifySamples, LooksAtBlocksNotAtSingleElements) {
  const Gemm gemm = normals(400, 410, 30);
  const RunResult good = right(gemm);
  EXPECT_TRUE(verify_samples(gemm, good, 0).empty());
  for (const std::size_t inside : {15UL * 410 + 15, 15UL * 410 + 394, 384UL * 410 + 15}) {
    RunResult bad = good;
    set_f32(bad, inside, f32_at(bad, inside) + 0.01F);
    const auto found = verify_samples(gemm, bad, 0);
    ASSERT_EQ(found.size(), 1U) << inside;
    EXPECT_EQ(found[0].coordinate[0], static_cast<std::int64_t>(inside / 410));
    EXPECT_EQ(found[0].coordinate[1], static_cast<std::int64_t>(inside % 410));
    EXPECT_NE(found[0].text.find("1 elements wrong in 16 sampled blocks of 16 x 16"),
              std::string::npos)
        << found[0].text;
  }
}

TEST(VerifySamples, LooksAtBlocksBetweenTheCorners) {
  const Gemm gemm = integers(64, 64, 3);
  const RunResult good = right(gemm);
  std::size_t seen = 0;
  for (std::size_t i = 20; i < 44; ++i) {
    RunResult bad = good;
    set_f32(bad, i * 64 + i, 77);
    seen += verify_samples(gemm, bad, 0).size();
  }
  EXPECT_GT(seen, 0U);
}

TEST(VerifySamples, TakesProductsSmallerThanABlockAndEmptyOnes) {
  const Gemm gemm = integers(3, 5, 7);
  EXPECT_TRUE(verify_samples(gemm, right(gemm), 0).empty());
  Gemm empty = integers(3, 5, 7);
  empty.cols = {5, 0};
  EXPECT_TRUE(verify_samples(empty, right(empty), 0).empty());
}

TEST(VerifyFreivalds, AcceptsRightProducts) {
  for (const GemmInputs inputs : {GemmInputs::small_integers, GemmInputs::normal})
    for (const GemmOutput output : {GemmOutput::f32, GemmOutput::bf16, GemmOutput::f16})
      for (const auto& gemm : {whole(1, 1, 1, inputs, output), whole(257, 129, 300, inputs, output),
                               whole(40, 30, 4099, inputs, output)}) {
        const auto found = verify_freivalds(gemm, right(gemm), 0);
        EXPECT_TRUE(found.empty()) << found.front().text;
      }
}

TEST(VerifyFreivalds, FindsOneWrongIntegerAndNamesIt) {
  const Gemm gemm = integers(200, 150, 100);
  RunResult result = right(gemm);
  set_f32(result, 33 * 150 + 149, f32_at(result, 33 * 150 + 149) - 1);
  const auto found = verify_freivalds(gemm, result, 4);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].row, 4U);
  EXPECT_EQ(found[0].coordinate[0], 33);
  EXPECT_EQ(found[0].coordinate[1], 149);
  EXPECT_NE(found[0].text.find("row 33 of C"), std::string::npos) << found[0].text;
  EXPECT_NE(found[0].text.find("1 of 200 rows wrong"), std::string::npos) << found[0].text;
}

TEST(VerifyFreivalds, FindsTwoErrorsOfOneRowThatCancelInItsPlainSum) {
  const Gemm gemm = integers(64, 100, 50);
  RunResult result = right(gemm);
  set_f32(result, 605, f32_at(result, 605) + 2);
  set_f32(result, 631, f32_at(result, 631) - 2);
  EXPECT_EQ(verify_freivalds(gemm, result, 0).size(), 1U);
}

TEST(VerifyFreivalds, FindsExchangedColumns) {
  const Gemm gemm = integers(1, 64, 200);
  RunResult result = right(gemm);
  const float kept = f32_at(result, 10);
  ASSERT_NE(kept, f32_at(result, 11));
  set_f32(result, 10, f32_at(result, 11));
  set_f32(result, 11, kept);
  EXPECT_EQ(verify_freivalds(gemm, result, 0).size(), 1U);
}

TEST(VerifyFreivalds, FindsANormalElementWrongByAHundredthOfItsTypicalSize) {
  const Gemm gemm = normals(257, 129, 300);
  RunResult result = right(gemm);
  set_f32(result, 200 * 129 + 5, f32_at(result, 200 * 129 + 5) + 0.01F * std::sqrt(300.0F));
  const auto found = verify_freivalds(gemm, result, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].coordinate[0], 200);
  EXPECT_EQ(found[0].coordinate[1], 5);
}

TEST(VerifyFreivalds, FindsAMissingLastProduct) {
  const Gemm gemm = normals(64, 64, 500);
  EXPECT_EQ(verify_freivalds(gemm, with_k(gemm, 499), 0).size(), 1U);
}

TEST(VerifyFreivalds, FindsABf16RowThatBelongsElsewhere) {
  const Gemm gemm = whole(64, 100, 50, GemmInputs::normal, GemmOutput::bf16);
  RunResult result = right(gemm);
  std::memmove(result.bytes.data() + 5 * 200, result.bytes.data() + 4 * 200, 200);
  EXPECT_EQ(verify_freivalds(gemm, result, 0).size(), 1U);
}

TEST(VerifyFreivalds, FindsABf16ElementWrongByAQuarterOfItsTypicalSizeIn100Columns) {
  const Gemm gemm = whole(64, 100, 64, GemmInputs::normal, GemmOutput::bf16);
  RunResult result = right(gemm);
  set_bf16(result, 5050, to_bf16(from_bf16(bf16_at(result, 5050)) + 2));
  const auto found = verify_freivalds(gemm, result, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].coordinate[0], 50);
  EXPECT_EQ(found[0].coordinate[1], 50);
}

TEST(VerifyFreivalds, FindsAnFp16ElementWrongByAThirtiethOfItsTypicalSizeIn100Columns) {
  const Gemm gemm = whole(64, 100, 64, GemmInputs::normal, GemmOutput::f16);
  RunResult result = right(gemm);
  set_bf16(result, 5050, to_f16(from_f16(bf16_at(result, 5050)) + 0.25F));
  const auto found = verify_freivalds(gemm, result, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].coordinate[0], 50);
  EXPECT_EQ(found[0].coordinate[1], 50);
}

TEST(VerifyFreivalds, NeverAcceptsWhatIsNoNumber) {
  const Gemm gemm = normals(10, 10, 10);
  RunResult result = right(gemm);
  set_f32(result, 42, std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(verify_freivalds(gemm, result, 0).size(), 1U);
}

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
