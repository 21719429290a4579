// The score of samples that are written down here.
#include "ci/lab/gemm/duel.hpp"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(TuningScore, IsTheMedianRatioWithItsSpreadAndDrift) {
  const DuelScore score = score_of({{.before_ns = 100, .ours_ns = 50, .behind_ns = 110},
                                    {.before_ns = 90, .ours_ns = 100, .behind_ns = 110},
                                    {.before_ns = 100, .ours_ns = 25, .behind_ns = 100}});
  EXPECT_DOUBLE_EQ(score.ratio, 2.1);
  EXPECT_DOUBLE_EQ(score.spread, 3);
  EXPECT_NEAR(score.drift, 0.1, 1e-12);
  EXPECT_DOUBLE_EQ(score.ours_ns, 50);
  EXPECT_DOUBLE_EQ(score.theirs_ns, 105);
}

TEST(TuningScore, OfNothingIsNothing) { EXPECT_EQ(score_of({}).ratio, 0); }

}  // namespace
}  // namespace tidemark
