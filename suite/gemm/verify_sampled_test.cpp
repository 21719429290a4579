// What looks at a part of a product, or at sums over it, must complain about what it is there for.
#include "suite/gemm/verify.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "suite/gemm/elements.hpp"
#include "suite/testing/tampered_product.hpp"

namespace tidemark {
namespace {

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

}  // namespace
}  // namespace tidemark
