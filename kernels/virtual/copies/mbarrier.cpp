// The steps of an mbarrier and the faults that change one of them.
#include "kernels/virtual/copies/mbarrier.hpp"

#include <algorithm>
#include <string>

#include "kernels/error.hpp"
#include "kernels/virtual/copies/faults/program_faults.hpp"
#include "kernels/virtual/copies/faults/tile_load_faults.hpp"

namespace tidemark {
namespace {

// A count that stops half-way to the bounds that the instruction set promises.
std::int64_t saturated(std::int64_t tx) {
  constexpr std::int64_t kHalf = 1 << 19;
  return std::clamp(tx, 1 - kHalf, kHalf - 1);
}

void add_tx(Mbarrier& barrier, std::int64_t bytes) {
  std::int64_t tx = barrier.tx + bytes;
  if (barrier.fault == kFaultExpectCountSaturates) tx = saturated(tx);
  if (barrier.saturates) tx = std::clamp<std::int64_t>(tx, -kMbarrierMax, kMbarrierMax);
  if (tx > kMbarrierMax || tx < -kMbarrierMax)
    throw Error("mbarrier: tx-count " + std::to_string(tx) + " is outside -(2^20-1)..2^20-1");
  barrier.tx = static_cast<std::int32_t>(tx);
  if (barrier.fault == kFaultMulticastNegativeClamped && tx < 0) barrier.tx = 0;
}

// What an announcement of `bytes` counts for.
std::uint32_t heard(const Mbarrier& barrier, std::uint32_t bytes) {
  if (barrier.fault == kFaultExpectSecondIgnored && barrier.tx > 0) return 0;
  if (barrier.fault == kFaultExpectLowBitsDropped) return bytes & ~0xfU;
  if (barrier.fault == kFaultExpectHighBitsDropped) return bytes & 0xffffU;
  if (barrier.fault == kFaultExpectZeroCounts && bytes == 0) return 16;
  return bytes;
}

bool is_complete(const Mbarrier& barrier) {
  if (barrier.fault == kFaultPhaseNeverFlips) return false;
  if (barrier.fault == kFaultTxCountIgnored) return barrier.pending == 0;
  if (barrier.fault == kFaultExpectBelowZeroCompletes)
    return barrier.pending == 0 && barrier.tx <= 0;
  return barrier.pending == 0 && barrier.tx == 0;
}

void complete_phase(Mbarrier& barrier) {
  ++barrier.phase;
  barrier.pending = barrier.expected;
  if (barrier.fault == kFaultExpectNextWaitsTwice) ++barrier.pending;
  if (barrier.fault == kFaultCyclePendingNotRestored) barrier.pending = 1;
  if (barrier.fault == kFaultResidueCarried) barrier.tx += 16;
}

void complete_if_done(Mbarrier& barrier) {
  if (is_complete(barrier)) complete_phase(barrier);
}

}  // namespace

Mbarrier init_mbarrier(std::uint32_t count, Fault fault) {
  if (count < 1 || count > static_cast<std::uint32_t>(kMbarrierMax))
    throw Error("mbarrier: count " + std::to_string(count) + " is outside 1..2^20-1");
  const std::uint32_t phase = fault == kFaultFreshBarrierComplete ? 1 : 0;
  return {.expected = count, .pending = count, .tx = 0, .phase = phase, .fault = fault};
}

void arrive(Mbarrier& barrier) {
  if (barrier.pending == 0)
    throw Error("mbarrier: an arrival more than the phase expects (pending count is 0)");
  const std::uint32_t phase = barrier.phase;
  --barrier.pending;
  complete_if_done(barrier);
  const bool completed = barrier.phase != phase;
  if (barrier.fault == kFaultExpectArrivalCompletes && !completed && barrier.pending == 0)
    complete_phase(barrier);
  if (barrier.fault == kFaultExpectArrivalTwice && completed) {
    --barrier.pending;
    complete_if_done(barrier);
  }
}

void drop(Mbarrier& barrier) {
  if (barrier.expected <= 1 && barrier.saturates) return;
  if (barrier.expected <= 1) throw Error("mbarrier: a drop of the last arrival of a phase");
  if (barrier.fault != kFaultDropIgnored) --barrier.expected;
}

void arrive_if_awaited(Mbarrier& barrier) {
  if (barrier.pending > 0) arrive(barrier);
}

void expect_tx(Mbarrier& barrier, std::uint32_t bytes) {
  if (barrier.fault == kFaultExpectDebtForgiven && barrier.tx < 0) barrier.tx = 0;
  add_tx(barrier, heard(barrier, bytes));
}

void arrive_expect_tx(Mbarrier& barrier, std::uint32_t bytes) {
  expect_tx(barrier, bytes);
  arrive(barrier);
}

void complete_tx(Mbarrier& barrier, std::uint32_t bytes) {
  add_tx(barrier, -static_cast<std::int64_t>(bytes));
  if (barrier.fault == kFaultExpectNegativeClamped && barrier.tx < 0) barrier.tx = 0;
  if (barrier.fault == kFaultExpectCreditNeverCompletes) return;
  complete_if_done(barrier);
}

bool test_wait(const Mbarrier& barrier, std::uint32_t parity) {
  if (barrier.fault == kFaultExpectParityInverted) parity ^= 1U;
  if (barrier.fault == kFaultCycleParityStuck) parity = 0;
  return (barrier.phase & 1U) != (parity & 1U);
}

}  // namespace tidemark
