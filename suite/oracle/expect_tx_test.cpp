// The oracle of mismatched announcements by hand, and its checker where it must complain.
#include "suite/oracle/expect_tx.hpp"

#include <functional>

#include <gtest/gtest.h>

#include "kernels/error.hpp"
#include "suite/oracle/compare.hpp"
#include "suite/oracle/expectation.hpp"

namespace tidemark::suite {
namespace {

/// A box of 32 x 3 bytes, 96 in all.
ExpectTx box(std::uint32_t announced) {
  ExpectTx op;
  op.load.map.extent = {64, 5};
  op.load.map.stride = {80};
  op.load.map.box = {32, 3};
  op.announced = announced;
  return op;
}

ExpectTx with(std::uint32_t announced, Arrival arrival, IssueOrder order) {
  ExpectTx op = box(announced);
  op.arrival = arrival;
  op.order = order;
  return op;
}

TEST(ExpectTxOracle, ExactCompletes) {
  EXPECT_EQ(completion_of(box(96), 0), Completion::completes);
  EXPECT_EQ(predict(box(96)).transactions[0].residue, 0);
  EXPECT_TRUE(predict(box(96)).transactions[0].waited);
}

TEST(ExpectTxOracle, OverNeverCompletesAndOwesTheDifference) {
  EXPECT_EQ(completion_of(box(97), 0), Completion::never);
  EXPECT_EQ(predict(box(97)).transactions[0].residue, 1);
  EXPECT_FALSE(predict(box(97)).transactions[0].waited);
}

TEST(ExpectTxOracle, UnderIsOpenWhileTheCopyIsOnItsWay) {
  EXPECT_EQ(completion_of(box(80), 0), Completion::open);
  EXPECT_EQ(predict(box(80)).transactions[0].residue, -16);
}

TEST(ExpectTxOracle, UnderNeverCompletesOnceAllHasLanded) {
  const Arrival with_it = Arrival::with_announcement;
  EXPECT_EQ(completion_of(with(80, with_it, IssueOrder::landed_first), 0), Completion::never);
  EXPECT_EQ(completion_of(with(80, Arrival::late, IssueOrder::announced_first), 0),
            Completion::never);
}

TEST(ExpectTxOracle, ZeroCompletesBeforeTheIssueAndNeverAfterTheLanding) {
  const Arrival plain = Arrival::separate;
  EXPECT_EQ(completion_of(with(0, plain, IssueOrder::announced_first), 0), Completion::completes);
  EXPECT_EQ(completion_of(with(0, plain, IssueOrder::issued_first), 0), Completion::open);
  EXPECT_EQ(completion_of(with(0, plain, IssueOrder::landed_first), 0), Completion::never);
}

TEST(ExpectTxOracle, NothingCompletesWithoutAnArrival) {
  const ExpectTx op = with(96, Arrival::missing, IssueOrder::announced_first);
  EXPECT_EQ(completion_of(op, 0), Completion::never);
  EXPECT_TRUE(predict(op).transactions[0].settled);
}

TEST(ExpectTxOracle, TwoHalvesMakeAWhole) {
  ExpectTx op = box(48);
  op.announcements = 2;
  EXPECT_EQ(completion_of(op, 0), Completion::completes);
}

TEST(ExpectTxOracle, PeerOwesWhatItWasTold) {
  ExpectTx op = box(96);
  op.on = AnnouncedOn::peer;
  const Expectation expected = predict(op);
  ASSERT_EQ(expected.transactions.size(), 4U);
  EXPECT_EQ(expected.transactions[0].residue, -96);
  EXPECT_EQ(expected.transactions[1].residue, 0);
  EXPECT_EQ(expected.transactions[2].residue, 96);
  EXPECT_EQ(expected.transactions[3].residue, 0);
  EXPECT_EQ(expected.bytes.size(), 2U * (1024 + 96 + 1024));
  EXPECT_EQ(expected.bytes[2144 + 1024], poison_byte(op.load.payload, 1024));
}

TEST(ExpectTxOracle, PlainArrivalHereCompletesWhatWasAnnouncedElsewhere) {
  ExpectTx op = with(96, Arrival::separate, IssueOrder::announced_first);
  op.on = AnnouncedOn::other_barrier;
  EXPECT_EQ(completion_of(op, 0), Completion::completes);
  EXPECT_EQ(completion_of(op, 1), Completion::never);
}

TEST(ExpectTxOracle, OldParityReturnsUntilThePhaseIsComplete) {
  ExpectTx op = box(97);
  op.parity = 1;
  EXPECT_TRUE(predict(op).transactions[0].waited);
  op.announced = 0;
  EXPECT_FALSE(predict(op).transactions[0].waited);
}

TEST(ExpectTxOracle, SimulatedCreditMeetsZeroOrJumpsOverIt) {
  ExpectTx op = box(512);
  op.simulated = {512, 256};
  EXPECT_EQ(completion_of(op, 0), Completion::completes);
  op.announced = 528;
  EXPECT_EQ(completion_of(op, 0), Completion::never);
  EXPECT_EQ(predict(op).transactions[0].residue, -240);
  EXPECT_EQ(predict(op).bytes[1024], poison_byte(op.load.payload, 1024));
}

TEST(ExpectTxOracle, RefusesWhatTheDocumentsLeaveUndefined) {
  EXPECT_THROW(predict(box(1U << 20)), Error);
  ExpectTx thrice = box(16);
  thrice.announcements = 3;
  EXPECT_THROW(predict(thrice), Error);
  ExpectTx none = box(16);
  none.announcements = 0;
  EXPECT_THROW(predict(none), Error);
  ExpectTx gap = box(16);
  gap.simulated = {0, 16};
  EXPECT_THROW(predict(gap), Error);
  ExpectTx bottom = box(16);
  bottom.simulated = {(1U << 20) - 1, 0};
  EXPECT_THROW(predict(bottom), Error);
}

/// The complaints about a right answer to an over-announced copy that `change` has been at.
std::vector<Miscompare> complaints(const std::function<void(RunResult&)>& change,
                                   const ExpectTx& op = box(112)) {
  const Expectation expected = predict(op);
  RunResult result;
  result.bytes = expected.bytes;
  result.surroundings = expected.surroundings;
  result.transactions = expected.transactions;
  change(result);
  return compare(op, expected, result, 9);
}

TEST(ExpectTxCompare, SaysNothingWhereAllAgrees) {
  EXPECT_TRUE(complaints([](RunResult&) {}).empty());
}

TEST(ExpectTxCompare, ComplainsAboutEachLineOfAnAccount) {
  const std::vector<std::function<void(TransactionLedger&)>> changes{
      [](TransactionLedger& a) { a.complete_before = true; },
      [](TransactionLedger& a) { a.waited = true; },
      [](TransactionLedger& a) { a.complete = true; },
      [](TransactionLedger& a) { a.settled = false; },
      [](TransactionLedger& a) { a.residue = 15; },
      [](TransactionLedger& a) { a.next_complete_early = true; },
      [](TransactionLedger& a) { a.next_complete = false; }};
  for (const auto& change : changes) {
    const auto found = complaints([&](RunResult& result) { change(result.transactions[0]); });
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].row, 9U);
    EXPECT_EQ(found[0].text.substr(0, 11), "barrier A: ");
  }
}

TEST(ExpectTxCompare, SaysWhatABarrierOwes) {
  const auto found = complaints([](RunResult& result) { result.transactions[1].residue = -16; });
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].what, "transactions: residue");
  EXPECT_EQ(found[0].text, "barrier B: bytes announced less bytes credited: expected 0, got -16");
}

TEST(ExpectTxCompare, LeavesTheRaceToTheReader) {
  EXPECT_TRUE(complaints([](RunResult& result) {
                result.transactions[0].pieces_missing = 6;
                result.transactions[0].waited_ns = 1234;
              }).empty());
}

TEST(ExpectTxPromised, IsWithoutWhatIsOnlyForReading) {
  std::vector<TransactionLedger> seen = predict(box(112)).transactions;
  seen[0].pieces_missing = 6;
  seen[0].waited_ns = 1234;
  EXPECT_EQ(promised(box(112), seen), predict(box(112)).transactions);
}

TEST(ExpectTxCompare, LeavesAnOpenCompletionOpenAndTheRestNot) {
  const auto complete = [](RunResult& result) { result.transactions[0].complete = true; };
  EXPECT_TRUE(complaints(complete, box(80)).empty());
  const auto owes = [](RunResult& result) { result.transactions[0].residue = 0; };
  EXPECT_EQ(complaints(owes, box(80)).size(), 1U);
}

TEST(ExpectTxCompare, ComplainsAboutEachByteOfBothWindows) {
  ExpectTx op = box(96);
  op.on = AnnouncedOn::peer;
  for (std::uint32_t at = 0; at < windows_bytes(op); ++at) {
    const auto found = complaints([&](RunResult& result) { result.bytes[at] ^= 1; }, op);
    ASSERT_EQ(found.size(), 1U) << at;
    EXPECT_EQ(found[0].first_offset, at);
    EXPECT_EQ(found[0].wrong_bytes, 1U);
  }
}

TEST(ExpectTxCompare, ComplainsAboutTheSource) {
  const auto found = complaints([](RunResult& result) { result.surroundings[3] ^= 1; });
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].what, "source");
}

TEST(ExpectTxCompare, ComplainsAboutMissingAccountsAndWindows) {
  EXPECT_EQ(complaints([](RunResult& result) { result.transactions.clear(); }).size(), 1U);
  EXPECT_EQ(complaints([](RunResult& result) { result.bytes.pop_back(); }).size(), 1U);
}

}  // namespace
}  // namespace tidemark::suite
