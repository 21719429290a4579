// Delivery, credit and waiting, and the faults that change one of these steps.
#include "kernels/virtual/copies/bulk_engine.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>

#include "kernels/error.hpp"
#include "kernels/virtual/copies/program_faults.hpp"
#include "kernels/virtual/copies/tile_load_faults.hpp"

namespace tidemark {

// The steps of an mbarrier and the faults that change one of them.

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
  if (barrier.fault == kFaultExpectLaterBelowZero && barrier.phase > 0 && barrier.tx > -16)
    return barrier.pending == 0 && barrier.tx <= 0;
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

namespace {

// Where chunk `index` lands: the chunks on either side of the middle may be told to change places.
std::uint32_t place_of(std::uint32_t index, std::uint32_t chunks, Fault fault) {
  if (fault != kFaultChunksExchanged || chunks < 2) return index;
  const std::uint32_t middle = chunks / 2;
  if (index == middle) return middle - 1;
  return index + 1 == middle ? middle : index;
}

std::uint32_t credit_of(const Chunk& chunk, Fault fault) {
  if (fault == kFaultCreditInsideOnly) return chunk.inside;
  if (fault == kFaultFilledChunkNoCredit && chunk.inside == 0) return 0;
  return chunk.credit;
}

// The part of a credit that was announced before it.
std::uint32_t announced_part(const Mbarrier& barrier, std::uint32_t bytes) {
  return std::min(bytes, static_cast<std::uint32_t>(std::max(barrier.tx, 0)));
}

}  // namespace

void store(SharedWindow& shared, std::int64_t address, const Chunk& chunk) {
  const std::int64_t first = address - shared.address;
  const auto size = static_cast<std::int64_t>(shared.bytes.size());
  if (chunk.written == 0xffff && first >= 0 && first <= size - kChunkBytes) {
    std::memcpy(&shared.bytes[static_cast<std::size_t>(first)], chunk.bytes.data(), kChunkBytes);
    return;
  }
  for (std::uint32_t i = 0; i < kChunkBytes; ++i) {
    const std::int64_t offset = first + i;
    if (offset < 0 || offset >= size || (chunk.written >> i & 1U) == 0) continue;
    shared.bytes[static_cast<std::size_t>(offset)] = chunk.bytes[i];
  }
}

BulkEngine::BulkEngine(std::uint64_t seed, Fault fault) : draw_{splitmix64(seed)}, fault_(fault) {}

Fault BulkEngine::fault_of(const BulkCopy& copy) const {
  return copy.fault != kNoFault ? copy.fault : fault_;
}

// Credit on an H200 comes in pieces that differ from run to run
// (suite/conformance/behaviour_load.cpp).
std::uint32_t BulkEngine::draw_group(const BulkCopy& copy) {
  const std::uint32_t together = fault_of(copy) == kFaultExpectSectorHalved ? 1 : copy.together;
  return together * (1 + below(draw_, 16 / together));
}

void BulkEngine::issue(BulkCopy copy) {
  if (copy.chunks == 0) return;
  const std::uint32_t group = draw_group(copy);
  InFlight flight{.copy = std::move(copy), .order = {}, .group_left = group};
  flight.order.resize(flight.copy.chunks);
  std::iota(flight.order.begin(), flight.order.end(), 0U);
  for (std::uint32_t i = flight.copy.chunks; i > 1; --i)
    std::swap(flight.order[i - 1], flight.order[below(draw_, i)]);
  in_flight_.push_back(std::move(flight));
}

void BulkEngine::land(const BulkCopy& copy, std::uint32_t index, std::uint32_t& uncredited) const {
  const Fault fault = fault_of(copy);
  const Chunk chunk = copy.chunk(index);
  const std::uint32_t last = copy.chunks - 1;
  uncredited += credit_of(chunk, fault);
  if (index == 0 && fault == kFaultWritesBefore)
    store(*copy.shared, copy.destination - kChunkBytes, chunk);
  if (index == last && fault == kFaultWritesBehind)
    store(*copy.shared, copy.destination + std::int64_t{kChunkBytes} * copy.chunks, chunk);
  if (index == last && fault == kFaultChunkDropped) return;
  const std::uint32_t place = place_of(index, copy.chunks, fault);
  const bool duplicated = fault == kFaultChunkDuplicated && index + 1 == last;
  store(*copy.shared, place == index ? chunk.address : copy.chunk(place).address,
        duplicated ? copy.chunk(last) : chunk);
}

void BulkEngine::credit(InFlight& flight) {
  const Fault fault = fault_of(flight.copy);
  const bool last = flight.next == flight.copy.chunks;
  std::uint32_t bytes = std::exchange(flight.uncredited, 0);
  if (last && fault == kFaultCreditShort) bytes -= std::min(bytes, kChunkBytes);
  if (last && fault == kFaultCreditOver) bytes += kChunkBytes;
  if (fault == kFaultCycleEarlyCreditLost) bytes = announced_part(*flight.copy.barrier, bytes);
  flight.group_left = draw_group(flight.copy);
  const std::uint32_t piece = fault == kFaultExpectCreditBytewise ? 1 : bytes;
  for (std::uint32_t done = 0; done < bytes; done += piece)
    complete_tx(*flight.copy.barrier, piece);
  if (bytes != 0 && fault == kFaultCreditTwice) complete_tx(*flight.copy.barrier, bytes);
  if (last && fault == kFaultExpectSurplusForgiven && flight.copy.barrier->tx > 0)
    complete_tx(*flight.copy.barrier, static_cast<std::uint32_t>(flight.copy.barrier->tx));
  Mbarrier& barrier = *flight.copy.barrier;
  if (last && flight.copy.forgives && barrier.tx > 0 && barrier.tx < 16)
    complete_tx(barrier, static_cast<std::uint32_t>(barrier.tx));
  if (last && fault == kFaultCreditFollowedByMore) complete_tx(*flight.copy.barrier, kChunkBytes);
}

bool BulkEngine::deliver_one() {
  if (in_flight_.empty()) return false;
  const std::size_t which = below(draw_, static_cast<std::uint32_t>(in_flight_.size()));
  InFlight& flight = in_flight_[which];
  const Fault fault = fault_of(flight.copy);
  land(flight.copy, flight.order[flight.next++], flight.uncredited);
  const std::uint32_t left = flight.copy.chunks - flight.next;
  if (left == 1 && fault == kFaultCreditBeforeLastChunk) {
    flight.uncredited += kChunkBytes;
    credit(flight);
  } else if (left == 0 && fault == kFaultCreditBeforeLastChunk && flight.copy.chunks > 1) {
    flight.uncredited = 0;
  } else if (--flight.group_left == 0 || left == 0) {
    credit(flight);
  }
  if (left == 0) in_flight_.erase(in_flight_.begin() + static_cast<std::ptrdiff_t>(which));
  return true;
}

void BulkEngine::deliver_all() {
  while (deliver_one()) {
  }
}

std::uint32_t BulkEngine::chunks_in_flight() const {
  std::uint32_t chunks = 0;
  for (const InFlight& flight : in_flight_) chunks += flight.copy.chunks - flight.next;
  return chunks;
}

bool BulkEngine::try_wait(const Mbarrier& barrier, std::uint32_t parity) {
  if (fault_ == kFaultWaitReturnsAtOnce) return true;
  for (std::uint32_t burst = 1 + below(draw_, 64); burst > 0; --burst) {
    if (test_wait(barrier, parity)) return true;
    if (!deliver_one()) return false;
  }
  return test_wait(barrier, parity);
}

bool wait_bounded(BulkEngine& engine, const Mbarrier& barrier, std::uint32_t parity,
                  std::uint32_t tries) {
  for (std::uint32_t i = 0; i < tries; ++i)
    if (engine.try_wait(barrier, parity)) return true;
  return false;
}

}  // namespace tidemark
