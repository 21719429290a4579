// Verifies products: every element, samples, and the vote of all ranks.
#include "suite/gemm/verify.hpp"

#include <gtest/gtest.h>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/ops/gemm/gemm.hpp"
#include "suite/gemm/block.hpp"
#include "suite/gemm/elements.hpp"
#include "suite/testing/tampered_product.hpp"
#include "suite/testing/thread_transport.hpp"

namespace tidemark {
namespace {

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

}  // namespace

namespace {

Exchange exchange;
ThreadTransport transport(exchange, 0);

Gemm voted(std::uint32_t rank, std::uint32_t ranks) {
  Gemm gemm = whole_product({512, 300, 64}, GemmInputs::normal);
  gemm.vote = true;
  gemm.rank = rank;
  gemm.transport = &transport;
  for (std::uint32_t i = 0; i < ranks; ++i) gemm.everybody.push_back({i, i, 1});
  return gemm;
}

/// Four tiles a rank, all alike.
RunResult agreed(std::uint32_t ranks) {
  RunResult result;
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    for (std::uint64_t tile = 0; tile < 4; ++tile) result.digests.push_back(100 + tile);
  return result;
}

TEST(Vote, EqualBitsAreNothingToSay) {
  for (std::uint32_t rank = 0; rank < 3; ++rank)
    EXPECT_TRUE(verify_vote(voted(rank, 3), agreed(3), 7).empty());
}

TEST(Vote, TheOneThatDiffersFailsAndNoOther) {
  RunResult result = agreed(4);
  result.digests[2 * 4 + 1] = 5;
  result.digests[2 * 4 + 3] = 6;
  for (const std::uint32_t rank : {0U, 1U, 3U})
    EXPECT_TRUE(verify_vote(voted(rank, 4), result, 0).empty()) << rank;
  const std::vector<Miscompare> found = verify_vote(voted(2, 4), result, 7);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].text,
            "this GPU, rank 2, differs from most of 4 GPUs in 2 of 4 tiles of the same C, first in "
            "rows 0 to 255, columns 256 to 299");
  EXPECT_EQ(found[0].row, 7U);
  EXPECT_EQ(found[0].expected, 101U);
  EXPECT_EQ(found[0].actual, 5U);
}

TEST(Vote, TwoThatDifferCannotSayWhoIsWrong) {
  RunResult result = agreed(2);
  result.digests[4 + 2] = 5;
  for (const std::uint32_t rank : {0U, 1U}) {
    const std::vector<Miscompare> found = verify_vote(voted(rank, 2), result, 0);
    ASSERT_EQ(found.size(), 1U) << rank;
    EXPECT_EQ(found[0].text,
              "2 GPUs differ in 1 of 4 tiles of the same C, first in rows 256 to 511, columns 0 to "
              "255, and no more than half agree: more GPUs would tell which is wrong");
  }
}

TEST(Vote, MissingDigestsAreNoAgreement) {
  RunResult result = agreed(3);
  result.digests.pop_back();
  EXPECT_EQ(verify_vote(voted(0, 3), result, 0).size(), 1U);
  EXPECT_EQ(verify_vote(voted(0, 3), RunResult{}, 0).size(), 1U);
}

TEST(Vote, OneRankAloneHasNobodyToDifferFrom) {
  Gemm gemm = voted(0, 1);
  gemm.transport = nullptr;
  EXPECT_TRUE(verify_vote(gemm, RunResult{}, 0).empty());
}

}  // namespace

}  // namespace tidemark
