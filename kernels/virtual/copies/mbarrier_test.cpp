// The barrier's state model: phases, arrivals and bytes announced and credited.
#include "kernels/virtual/copies/bulk_engine.hpp"

#include <gtest/gtest.h>

#include "kernels/error.hpp"

namespace tidemark {
namespace {

TEST(Mbarrier, FreshPhaseIsIncompleteAndThePhaseBeforeItReadsAsComplete) {
  const Mbarrier barrier = init_mbarrier(1);
  EXPECT_FALSE(test_wait(barrier, 0));
  EXPECT_TRUE(test_wait(barrier, 1));
}

TEST(Mbarrier, ExactAnnouncementCompletesOnceWithTheLastCredit) {
  Mbarrier barrier = init_mbarrier(1);
  arrive_expect_tx(barrier, 64);
  complete_tx(barrier, 48);
  EXPECT_FALSE(test_wait(barrier, 0));
  complete_tx(barrier, 16);
  EXPECT_TRUE(test_wait(barrier, 0));
  EXPECT_FALSE(test_wait(barrier, 1));
  EXPECT_EQ(barrier.tx, 0);
  EXPECT_EQ(barrier.pending, 1U);
}

TEST(Mbarrier, OverAnnouncementWaitsForTheRestAndThenCompletes) {
  Mbarrier barrier = init_mbarrier(1);
  arrive_expect_tx(barrier, 80);
  complete_tx(barrier, 64);
  EXPECT_FALSE(test_wait(barrier, 0));
  EXPECT_EQ(barrier.tx, 16);
  complete_tx(barrier, 16);
  EXPECT_TRUE(test_wait(barrier, 0));
}

TEST(Mbarrier, CountThatSaturatesStopsAtTheEndOfItsRange) {
  Mbarrier barrier = init_mbarrier(1);
  barrier.saturates = true;
  expect_tx(barrier, kMbarrierMax);
  expect_tx(barrier, 16);
  EXPECT_EQ(barrier.tx, kMbarrierMax);
  complete_tx(barrier, kMbarrierMax);
  complete_tx(barrier, kMbarrierMax);
  complete_tx(barrier, 16);
  EXPECT_EQ(barrier.tx, -kMbarrierMax);
}

TEST(Mbarrier, UnderAnnouncementCreditedInOnePiecePassesZeroAndDoesNotComplete) {
  Mbarrier barrier = init_mbarrier(1);
  arrive_expect_tx(barrier, 48);
  complete_tx(barrier, 64);
  EXPECT_FALSE(test_wait(barrier, 0));
  EXPECT_EQ(barrier.tx, -16);
  expect_tx(barrier, 32);
  complete_tx(barrier, 16);
  EXPECT_TRUE(test_wait(barrier, 0));
}

TEST(Mbarrier, UnderAnnouncementThatHitsZeroCompletesEarlyAndOwesTheNextPhase) {
  Mbarrier barrier = init_mbarrier(1);
  arrive_expect_tx(barrier, 48);
  complete_tx(barrier, 48);
  EXPECT_TRUE(test_wait(barrier, 0));
  complete_tx(barrier, 16);
  EXPECT_FALSE(test_wait(barrier, 1));
  EXPECT_EQ(barrier.tx, -16);
  arrive_expect_tx(barrier, 48);
  complete_tx(barrier, 48);
  EXPECT_FALSE(test_wait(barrier, 1));  // 16 bytes of residue
}

TEST(Mbarrier, UnderAnnouncementThatCrossesZeroBetweenCreditsDoesNotComplete) {
  Mbarrier barrier = init_mbarrier(1);
  arrive_expect_tx(barrier, 48);
  complete_tx(barrier, 32);
  complete_tx(barrier, 32);
  EXPECT_FALSE(test_wait(barrier, 0));
  EXPECT_EQ(barrier.tx, -16);
}

TEST(Mbarrier, WithoutAnnouncementACopyThatLandsFirstNeverCompletes) {
  Mbarrier barrier = init_mbarrier(1);
  complete_tx(barrier, 64);
  arrive(barrier);
  EXPECT_FALSE(test_wait(barrier, 0));
}

TEST(Mbarrier, WithoutAnnouncementAnArrivalThatComesFirstCompletesAtOnce) {
  Mbarrier barrier = init_mbarrier(1);
  arrive(barrier);
  EXPECT_TRUE(test_wait(barrier, 0));
  complete_tx(barrier, 64);
  EXPECT_EQ(barrier.tx, -64);
}

TEST(Mbarrier, CopyThatLandsBeforeTheAnnouncementCompletesWithTheArrival) {
  Mbarrier barrier = init_mbarrier(1);
  complete_tx(barrier, 64);
  expect_tx(barrier, 64);
  EXPECT_FALSE(test_wait(barrier, 0));
  arrive(barrier);
  EXPECT_TRUE(test_wait(barrier, 0));
}

TEST(Mbarrier, AnnouncementAloneCompletesNothing) {
  Mbarrier barrier = init_mbarrier(1);
  complete_tx(barrier, 64);
  arrive(barrier);         // (0, -64)
  expect_tx(barrier, 64);  // (0, 0), and nobody looks
  EXPECT_FALSE(test_wait(barrier, 0));
  complete_tx(barrier, 0);
  EXPECT_TRUE(test_wait(barrier, 0));
}

TEST(Mbarrier, WaitsForEveryArrival) {
  Mbarrier barrier = init_mbarrier(3);
  arrive(barrier);
  EXPECT_FALSE(test_wait(barrier, 0));
  arrive(barrier);
  EXPECT_FALSE(test_wait(barrier, 0));
  arrive(barrier);
  EXPECT_TRUE(test_wait(barrier, 0));
  EXPECT_EQ(barrier.pending, 3U);
}

TEST(Mbarrier, WaiterTwoPhasesBehindReadsIncomplete) {
  Mbarrier barrier = init_mbarrier(1);
  arrive(barrier);
  arrive(barrier);
  EXPECT_FALSE(test_wait(barrier, 0));
}

TEST(Mbarrier, CountOutsideItsRangeIsRefused) {
  EXPECT_THROW(init_mbarrier(0), Error);
  EXPECT_THROW(init_mbarrier(1U << 20), Error);
  EXPECT_NO_THROW(init_mbarrier((1U << 20) - 1));
}

TEST(Mbarrier, ArrivalMoreThanExpectedIsRefused) {
  Mbarrier barrier = init_mbarrier(1);
  arrive_expect_tx(barrier, 16);
  EXPECT_THROW(arrive(barrier), Error);
}

TEST(Mbarrier, TxCountReachesItsBoundsAndNotBeyond) {
  Mbarrier over = init_mbarrier(1);
  EXPECT_NO_THROW(expect_tx(over, (1U << 20) - 1));
  EXPECT_THROW(expect_tx(over, 1), Error);
  Mbarrier under = init_mbarrier(1);
  EXPECT_NO_THROW(complete_tx(under, (1U << 20) - 1));
  EXPECT_THROW(complete_tx(under, 1), Error);
}

}  // namespace
}  // namespace tidemark
