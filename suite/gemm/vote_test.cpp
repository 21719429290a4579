// The GPU that differs from the others is the one that fails.
#include "suite/gemm/vote.hpp"

#include <gtest/gtest.h>

#include "kernels/ops/gemm/gemm_digest.hpp"
#include "suite/testing/thread_transport.hpp"

namespace tidemark::suite {
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
}  // namespace tidemark::suite
