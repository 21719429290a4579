// Predicts mismatched announcements by conservation: what was announced on a barrier less what came
// is what it must still owe, and a phase completes where that is nothing. Written from the PTX ISA,
// apart from every device.
#include "suite/oracle/expect_tx.hpp"

#include <string_view>

#include <fmt/format.h>

#include "kernels/error.hpp"
#include "suite/oracle/compare.hpp"
#include "suite/oracle/difference.hpp"
#include "suite/oracle/expectation.hpp"

namespace tidemark::suite {
namespace {

constexpr std::string_view kBarrierNames[] = {"barrier A", "barrier B", "the peer's barrier A",
                                              "the peer's barrier B"};

std::uint64_t credited_on(const ExpectTx& op, std::uint32_t barrier) {
  return barrier == 0 ? credit_bytes(op) : 0;
}

std::int64_t residue_of(const ExpectTx& op, std::uint32_t barrier) {
  return static_cast<std::int64_t>(announced_bytes(op, barrier)) -
         static_cast<std::int64_t>(credited_on(op, barrier));
}

// Whether nothing more comes once the arrival is there, so that the arrival decides.
bool is_credited_before_arrival(const ExpectTx& op) {
  return op.arrival == Arrival::late || op.order == IssueOrder::landed_first ||
         (is_simulated(op) && op.order == IssueOrder::issued_first);
}

// Where the documents stop, there is nothing to predict.
void refuse_the_undefined(const ExpectTx& op) {
  const std::uint64_t announced = announced_bytes(op, announced_barrier(op));
  if (op.announcements > 2 || op.parity > 1)
    throw Error(fmt::format("expect_tx: {} announcements and parity {}; take 0 to 2, and 0 or 1",
                            op.announcements, op.parity));
  if (op.announcements == 0 && op.arrival == Arrival::with_announcement)
    throw Error(
        "expect_tx: the arrival comes with an announcement and there is none; let it come "
        "separately");
  if (op.simulated[0] == 0 && op.simulated[1] != 0)
    throw Error("expect_tx: a second simulated credit without a first; fill them in order");
  if (announced > kTxCountMax || credit_bytes(op) > kTxCountMax)
    throw Error(
        fmt::format("expect_tx: {} bytes announced and {} credited: beyond {} a tx-count "
                    "means nothing",
                    announced, credit_bytes(op), kTxCountMax));
  if (announced_bytes(op, 0) < credit_bytes(op) && credit_bytes(op) == kTxCountMax)
    throw Error(
        "expect_tx: the count ends on its lower bound, from which the meter cannot bring it "
        "back; credit a byte less");
}

// The wait for the phase before a fresh one returns at once; once phase 0 is complete, phase 1 is
// the current one and does not complete.
bool is_wait_open(const ExpectTx& op) {
  const Completion completion = completion_of(op, 0);
  if (completion == Completion::open) return true;
  const bool in_flight =
      !is_credited_before_arrival(op) && !is_simulated(op) && announced_bytes(op, 0) != 0;
  return op.parity == 1 && completion == Completion::completes && in_flight;
}

TransactionLedger account_of(const ExpectTx& op, std::uint32_t barrier) {
  const bool complete = completion_of(op, barrier) == Completion::completes;
  const bool copied_again = barrier == 0;
  return {.complete_before = false,
          .waited = barrier == 0 && (op.parity == 0 ? complete : !complete),
          .complete = complete,
          .settled = true,
          .next_complete_early = false,
          .next_complete = copied_again,
          .residue = residue_of(op, barrier),
          .pieces_missing = 0,
          .waited_ns = 0};
}

void compare_line(std::uint32_t barrier, std::string_view line, std::string_view meaning,
                  std::int64_t expected, std::int64_t actual, std::vector<Miscompare>& found) {
  if (expected == actual) return;
  found.push_back({.row = 0,
                   .parameters = {},
                   .what = fmt::format("transactions: {}", line),
                   .coordinate = {},
                   .first_offset = 0,
                   .wrong_bytes = 0,
                   .expected = static_cast<std::uint64_t>(expected),
                   .actual = static_cast<std::uint64_t>(actual),
                   .text = fmt::format("{}: {}: expected {}, got {}", kBarrierNames[barrier],
                                       meaning, expected, actual)});
}

void compare_account(std::uint32_t barrier, const TransactionLedger& expected,
                     const TransactionLedger& actual, std::vector<Miscompare>& found) {
  const auto line = [&](std::string_view name, std::string_view meaning, std::int64_t wanted,
                        std::int64_t got) {
    compare_line(barrier, name, meaning, wanted, got, found);
  };
  line("complete_before", "phase 0 complete before anything was announced",
       expected.complete_before, actual.complete_before);
  line("waited", "the wait ended in time", expected.waited, actual.waited);
  line("complete", "phase 0 complete when everything had landed", expected.complete,
       actual.complete);
  line("settled", "brought back by the recovery", expected.settled, actual.settled);
  line("residue", "bytes announced less bytes credited", expected.residue, actual.residue);
  line("next_complete_early", "next phase complete before anything came",
       expected.next_complete_early, actual.next_complete_early);
  line("next_complete", "next phase complete after an exact copy", expected.next_complete,
       actual.next_complete);
}

void compare_accounts(const ExpectTx& op, const Expectation& expected, const RunResult& result,
                      std::vector<Miscompare>& found) {
  const std::vector<TransactionLedger> seen = promised(op, result.transactions);
  if (seen.size() != expected.transactions.size())
    return compare_line(0, "barriers", "accounts from the device",
                        static_cast<std::int64_t>(expected.transactions.size()),
                        static_cast<std::int64_t>(seen.size()), found);
  for (std::uint32_t i = 0; i < seen.size(); ++i)
    compare_account(i, expected.transactions[i], seen[i], found);
}

// Block 1 is copied nothing: its window stays as it was.
void compare_peer(const Expectation& expected, const RunResult& result, std::size_t begin,
                  std::vector<Miscompare>& found) {
  const auto difference =
      exact_difference(expected.bytes, result.bytes, begin, expected.bytes.size());
  if (!difference) return;
  Miscompare wrong = wrong_byte("guard", *difference, expected.bytes, result.bytes, 0);
  wrong.text = fmt::format(
      "byte {} of the peer's window, which nothing was copied to: expected 0x{:02x}, got 0x{:02x}; "
      "{} bytes are wrong",
      wrong.first_offset - begin, wrong.expected, wrong.actual, wrong.wrong_bytes);
  found.push_back(wrong);
}

}  // namespace

Completion completion_of(const ExpectTx& op, std::uint32_t barrier) {
  if (!arrives_on(op, barrier)) return Completion::never;
  const std::int64_t residue = residue_of(op, barrier);
  if (residue == 0) return Completion::completes;
  if (residue > 0 || is_credited_before_arrival(op)) return Completion::never;
  const std::uint64_t announced = announced_bytes(op, barrier);
  const auto certain = [](bool complete) {
    return complete ? Completion::completes : Completion::never;
  };
  if (is_simulated(op)) return certain(announced == 0 || announced == op.simulated[0]);
  if (op.order == IssueOrder::issued_first) return Completion::open;
  if (announced == 0) return Completion::completes;  // with the arrival, before the copy is issued
  return Completion::open;
}

std::vector<TransactionLedger> promised(const ExpectTx& op, std::vector<TransactionLedger> seen) {
  for (std::uint32_t i = 0; i < seen.size(); ++i) {
    seen[i].pieces_missing = 0;
    seen[i].waited_ns = 0;
    if (i == 0 && is_wait_open(op)) seen[i].waited = false;
    if (completion_of(op, i) == Completion::open) seen[i].complete = false;
  }
  return seen;
}

Expectation predict(const ExpectTx& op) {
  refuse_the_undefined(op);
  Expectation expectation = predict(op.load);
  expectation.ledger = {};
  expectation.later = 0;
  const std::size_t window = expectation.bytes.size();
  std::vector<std::uint8_t> untouched(window);
  for (std::uint32_t i = 0; i < window; ++i) untouched[i] = poison_byte(op.load.payload, i);
  if (is_simulated(op)) {
    expectation.bytes = untouched;
    expectation.compare.clear();
  }
  for (std::uint32_t block = 1; block < blocks_of(op); ++block) {
    expectation.bytes.insert(expectation.bytes.end(), untouched.begin(), untouched.end());
    if (!expectation.compare.empty())
      expectation.compare.resize(expectation.bytes.size(), Compare::exact);
  }
  for (std::uint32_t i = 0; i < barriers_of(op); ++i)
    expectation.transactions.push_back(account_of(op, i));
  expectation.transactions = promised(op, std::move(expectation.transactions));
  return expectation;
}

std::vector<Miscompare> compare(const ExpectTx& op, const Expectation& expected,
                                const RunResult& result, std::uint32_t row) {
  const std::size_t window = window_bytes(op.load);
  const bool whole = result.bytes.size() == expected.bytes.size();
  const auto of_block_0 = [&](const auto& bytes) {
    auto first = bytes;
    if (whole && first.size() > window) first.resize(window);
    return first;
  };
  Expectation load{.bytes = of_block_0(expected.bytes),
                   .compare = of_block_0(expected.compare),
                   .surroundings = expected.surroundings,
                   .ledger = {}};
  RunResult loaded;
  loaded.bytes = of_block_0(result.bytes);
  loaded.surroundings = result.surroundings;
  std::vector<Miscompare> found = compare(op.load, load, loaded, row);
  if (whole) compare_peer(expected, result, window, found);
  compare_accounts(op, expected, result, found);
  for (Miscompare& miscompare : found) miscompare.row = row;
  return found;
}

}  // namespace tidemark::suite
