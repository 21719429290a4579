// The steps of an mbarrier and the faults that change one of them.
#include "kernels/virtual/mbarrier.hpp"

#include <string>

#include "kernels/error.hpp"
#include "kernels/virtual/tile_load_faults.hpp"

namespace tidemark {
namespace {

void add_tx(Mbarrier& barrier, std::int64_t bytes) {
  const std::int64_t tx = barrier.tx + bytes;
  if (tx > kMbarrierMax || tx < -kMbarrierMax)
    throw Error("mbarrier: tx-count " + std::to_string(tx) + " is outside -(2^20-1)..2^20-1");
  barrier.tx = static_cast<std::int32_t>(tx);
}

bool is_complete(const Mbarrier& barrier) {
  if (barrier.fault == kFaultPhaseNeverFlips) return false;
  if (barrier.fault == kFaultTxCountIgnored) return barrier.pending == 0;
  return barrier.pending == 0 && barrier.tx == 0;
}

void complete_if_done(Mbarrier& barrier) {
  if (!is_complete(barrier)) return;
  ++barrier.phase;
  barrier.pending = barrier.expected;
  if (barrier.fault == kFaultResidueCarried) barrier.tx += 16;
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
  --barrier.pending;
  complete_if_done(barrier);
}

void arrive_if_awaited(Mbarrier& barrier) {
  if (barrier.pending > 0) arrive(barrier);
}

void expect_tx(Mbarrier& barrier, std::uint32_t bytes) { add_tx(barrier, bytes); }

void arrive_expect_tx(Mbarrier& barrier, std::uint32_t bytes) {
  expect_tx(barrier, bytes);
  arrive(barrier);
}

void complete_tx(Mbarrier& barrier, std::uint32_t bytes) {
  add_tx(barrier, -static_cast<std::int64_t>(bytes));
  complete_if_done(barrier);
}

bool test_wait(const Mbarrier& barrier, std::uint32_t parity) {
  return (barrier.phase & 1U) != (parity & 1U);
}

}  // namespace tidemark
