// Mismatched announcements on the virtual device, one behaviour of a barrier each.
#include "kernels/virtual/expect_tx.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/error.hpp"

namespace tidemark::kernels {
namespace {

/// A box of 64 x 8 bytes, 512 in all.
ExpectTx box(std::uint32_t announced) {
  ExpectTx op;
  op.load.map.extent = {160, 20};
  op.load.map.stride = {160};
  op.load.map.box = {64, 8};
  op.load.at = {16, 3};
  op.load.payload.seed = 5;
  op.announced = announced;
  return op;
}

RunResult run(const ExpectTx& op) { return run_virtual_expect_tx(op, kNoFault); }

TEST(VirtualExpectTx, ExactAnnouncementCompletesAndOwesNothing) {
  const RunResult result = run(box(512));
  ASSERT_EQ(result.transactions.size(), 2U);
  const TransactionLedger& a = result.transactions[0];
  EXPECT_TRUE(a.waited);
  EXPECT_TRUE(a.complete);
  EXPECT_TRUE(a.settled);
  EXPECT_EQ(a.residue, 0);
  EXPECT_FALSE(a.next_complete_early);
  EXPECT_TRUE(a.next_complete);
  EXPECT_EQ(a.pieces_missing, 0U);
}

TEST(VirtualExpectTx, OverAnnouncementDoesNotCompleteAndOwesTheDifference) {
  const RunResult result = run(box(513));
  const TransactionLedger& a = result.transactions[0];
  EXPECT_EQ(result.fault, DeviceFault::none);
  EXPECT_FALSE(a.waited);
  EXPECT_FALSE(a.complete);
  EXPECT_TRUE(a.settled);
  EXPECT_EQ(a.residue, 1);
  EXPECT_TRUE(a.next_complete);
}

TEST(VirtualExpectTx, OverAnnouncedDataLandAllTheSame) {
  EXPECT_EQ(run(box(4096)).bytes, run(box(512)).bytes);
}

TEST(VirtualExpectTx, UnderAnnouncementOwesLessThanNothingWhetherItCompletesOrNot) {
  std::size_t early = 0, never = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    ExpectTx op = box(256);
    op.load.payload.seed = seed;
    const RunResult result = run(op);
    const TransactionLedger& a = result.transactions[0];
    EXPECT_EQ(a.residue, -256) << seed;
    EXPECT_TRUE(a.settled && a.next_complete) << seed;
    ++(a.complete ? early : never);
  }
  EXPECT_GT(early, 0U);
  EXPECT_GT(never, 0U);
}

TEST(VirtualExpectTx, ZeroAnnouncedBeforeTheIssueCompletesWithNothingThere) {
  const TransactionLedger a = run(box(0)).transactions[0];
  EXPECT_TRUE(a.waited);
  EXPECT_EQ(a.residue, -512);
  EXPECT_EQ(a.pieces_missing, 32U);
}

TEST(VirtualExpectTx, ZeroAnnouncedAfterTheLandingDoesNotComplete) {
  ExpectTx op = box(0);
  op.order = IssueOrder::landed_first;
  const TransactionLedger a = run(op).transactions[0];
  EXPECT_FALSE(a.complete);
  EXPECT_EQ(a.residue, -512);
}

TEST(VirtualExpectTx, TwoAnnouncementsAddUp) {
  ExpectTx op = box(512);
  op.announcements = 2;
  EXPECT_EQ(run(op).transactions[0].residue, 512);
}

TEST(VirtualExpectTx, MissingArrivalIsMadeGoodByAPlainOne) {
  ExpectTx op = box(512);
  op.arrival = Arrival::missing;
  const TransactionLedger a = run(op).transactions[0];
  EXPECT_FALSE(a.complete);
  EXPECT_TRUE(a.settled);
  EXPECT_EQ(a.residue, 0);
}

TEST(VirtualExpectTx, WrongBarrierOwesWhatTheRightOneWasGivenTooMuch) {
  ExpectTx op = box(512);
  op.on = AnnouncedOn::other_barrier;
  const RunResult result = run(op);
  EXPECT_EQ(result.transactions[0].residue, -512);
  EXPECT_EQ(result.transactions[1].residue, 512);
  EXPECT_TRUE(result.transactions[0].next_complete);
}

TEST(VirtualExpectTx, PeerHasTwoBarriersAndAWindowOfItsOwn) {
  ExpectTx op = box(512);
  op.on = AnnouncedOn::peer;
  const RunResult result = run(op);
  ASSERT_EQ(result.transactions.size(), 4U);
  EXPECT_EQ(result.transactions[0].residue, -512);
  EXPECT_EQ(result.transactions[1].residue, 0);
  EXPECT_EQ(result.transactions[2].residue, 512);
  EXPECT_EQ(result.transactions[3].residue, 0);
  ASSERT_EQ(result.bytes.size(), 2U * 2560);
  for (std::uint32_t i = 0; i < 2560; ++i)
    ASSERT_EQ(result.bytes[2560 + i], poison_byte(op.load.payload, i)) << i;
}

TEST(VirtualExpectTx, OldParityReturnsAtOnce) {
  ExpectTx op = box(512);
  op.parity = 1;
  const TransactionLedger a = run(op).transactions[0];
  EXPECT_TRUE(a.waited);
  EXPECT_EQ(a.pieces_missing, 32U);
  EXPECT_TRUE(a.complete);
}

TEST(VirtualExpectTx, SimulatedCreditThatMeetsZeroCompletesAndOwesTheRest) {
  ExpectTx op = box(300);
  op.simulated = {300, 44};
  const RunResult result = run(op);
  EXPECT_TRUE(result.transactions[0].complete);
  EXPECT_EQ(result.transactions[0].residue, -44);
  for (std::uint32_t i = 0; i < result.bytes.size(); ++i)
    ASSERT_EQ(result.bytes[i], poison_byte(op.load.payload, i)) << i;
}

TEST(VirtualExpectTx, SimulatedCreditThatJumpsOverZeroDoesNotComplete) {
  ExpectTx op = box(301);
  op.simulated = {300, 44};
  const TransactionLedger a = run(op).transactions[0];
  EXPECT_FALSE(a.complete);
  EXPECT_EQ(a.residue, -43);
}

TEST(VirtualExpectTx, WholeRangeOfTheCountIsMetered) {
  ExpectTx op = box((1U << 20) - 1);
  EXPECT_EQ(run(op).transactions[0].residue, (1 << 20) - 1 - 512);
}

TEST(VirtualExpectTx, CountBeyondItsRangeIsRefused) { EXPECT_THROW(run(box(1U << 20)), Error); }

TEST(VirtualExpectTx, RefusedMapIsAValue) {
  ExpectTx op = box(512);
  op.load.map.stride = {161};
  EXPECT_EQ(run(op).fault, DeviceFault::encode_refused);
}

}  // namespace
}  // namespace tidemark::kernels
