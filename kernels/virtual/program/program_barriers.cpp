// Barriers of a program on the virtual device, and what multicasts deliver to them.
#include "kernels/virtual/program/program_run.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <bit>

#include "kernels/error.hpp"
#include "kernels/virtual/copies/program_faults.hpp"
#include "kernels/virtual/copies/tile_load_faults.hpp"

namespace tidemark {

// Barriers of a program: their lives, what they are told, waits and the meter.

namespace {

constexpr std::uint32_t kSpareTries = 8;  // beyond one for each chunk, which is enough

Mbarrier& live(const Turn& turn, std::uint32_t cta, std::uint32_t barrier) {
  BarrierMemory& memory = turn.run.ctas[cta].barriers[barrier];
  if (!memory.live && turn.run.fault == kNoFault)
    throw Error(fmt::format("barrier {} of CTA {} is not initialized", barrier, cta));
  return memory.barrier;
}

BarrierMemory& plain(const Turn& turn) {
  if (turn.memory().live && turn.run.fault == kNoFault)
    throw Error(fmt::format("barrier {} of CTA {} is initialized; inval it first",
                            turn.step().barrier, turn.cta));
  return turn.memory();
}

std::uint32_t parity_of(const Turn& turn) {
  const std::uint8_t parity = turn.step().parity;
  if (parity == kCurrentPhase) return turn.memory().phase;
  if (parity == kLastPhase) return turn.memory().phase ^ 1U;
  return parity;
}

std::uint32_t count_of_life(const BarrierMemory& memory, std::uint32_t count, Fault fault) {
  if (fault == kFaultCycleArrivalEarly && count > 1) return count - 1;
  if (fault == kFaultCycleArrivalLate && count < kTxCountMax) return count + 1;
  if (fault == kFaultCycleCountTruncated && count > 4096) return std::max(count % 4096, 1U);
  if (fault == kFaultCycleCountSurvives && memory.lives > 0) return memory.first_count;
  return count;
}

void arrive_times(const Turn& turn, Mbarrier& barrier, std::uint32_t times) {
  for (std::uint32_t i = 0; i < times; ++i) {
    if (turn.run.fault == kNoFault)
      arrive(barrier);
    else
      arrive_if_awaited(barrier);
  }
}

std::uint32_t meant_cta(const Turn& turn) {
  return turn.step().of == kOwnCta ? turn.cta : turn.step().of;
}

// The barrier that expect_tx comes to, or null where it is lost on its way.
Mbarrier* expect_target(const Turn& turn) {
  const Fault fault = turn.run.fault;
  const bool remote = meant_cta(turn) != turn.cta;
  if (remote && fault == kFaultExpectRemoteLost) return nullptr;
  const bool stays = remote && fault == kFaultExpectRemoteLocal;
  const bool moves = turn.step().barrier == 1 && fault == kFaultExpectOtherOnCopys;
  return &live(turn, stays ? turn.cta : meant_cta(turn), moves ? 0 : turn.step().barrier);
}

// mbarrier.complete_tx as an instruction, not as the end of a copy.
void take_off(Mbarrier& barrier, std::uint32_t bytes) {
  const bool too_few = barrier.fault == kFaultExpectCompleteTxShort && bytes > 1;
  complete_tx(barrier, too_few ? bytes - 1 : bytes);
}

// The CTA takes no further step. Before anything else happens, all copies have landed.
void stop(const Turn& turn) {
  turn.own().stopped = true;
  turn.run.engine.deliver_all();
  RunResult& result = turn.run.result;
  if (result.fault != DeviceFault::none) return;  // the first stop says where
  result.fault = DeviceFault::timeout;
  result.note = stop_note(turn.run.program, static_cast<std::uint32_t>(turn.number), turn.cta);
}

// Item 3 of Verb::meter. Returns the residue.
std::int32_t drain(const Step& step, Mbarrier& barrier, std::uint32_t parity) {
  if (step.bytes > 0) expect_tx(barrier, step.bytes);
  if (step.stride > 0) take_off(barrier, step.stride);
  std::uint32_t taken = 0;
  for (; taken < step.most && !test_wait(barrier, parity); ++taken) take_off(barrier, 1);
  if (barrier.fault == kFaultCreditLate && test_wait(barrier, parity))
    complete_tx(barrier, kChunkBytes);
  return static_cast<std::int32_t>(step.stride + taken) - static_cast<std::int32_t>(step.bytes);
}

}  // namespace

Mbarrier& live_barrier(const Turn& turn) { return live_barrier(turn, turn.cta); }

Mbarrier& live_barrier(const Turn& turn, std::uint32_t cta) {
  return live(turn, cta, turn.step().barrier);
}

void take_init(const Turn& turn) {
  BarrierMemory& memory = plain(turn);
  const Fault fault = turn.run.fault;
  const std::uint32_t phase_before = memory.barrier.phase;
  memory.barrier = init_mbarrier(count_of_life(memory, turn.step().count, fault), fault);
  memory.barrier.saturates = fault != kNoFault;
  if (fault == kFaultCyclePhaseSurvives && memory.lives > 0) memory.barrier.phase = phase_before;
  if (memory.lives++ == 0) memory.first_count = turn.step().count;
  memory.live = true;
  memory.phase = memory.loads = 0;
}

void take_inval(const Turn& turn) {
  live_barrier(turn);
  turn.memory().live = false;
}

void take_arrive(const Turn& turn) {
  const Fault fault = turn.run.fault;
  const bool remote = meant_cta(turn) != turn.cta;
  if (remote && fault == kFaultArriveRemoteLost) return;
  const bool stays = remote && fault == kFaultArriveRemoteLocal;
  Mbarrier& barrier = live(turn, stays ? turn.cta : meant_cta(turn), turn.step().barrier);
  const std::uint32_t count = turn.step().count;
  const bool drops = turn.step().verb == Verb::arrive_drop;
  for (std::uint32_t i = 0; drops && i < count; ++i) drop(barrier);
  if (!drops || fault != kFaultDropNoArrival) arrive_times(turn, barrier, count);
}

std::uint64_t take_arrive_token(const Turn& turn) {
  const Fault fault = turn.run.fault;
  Mbarrier& barrier = live_barrier(turn);
  const std::uint32_t phase = barrier.phase;
  arrive_times(turn, barrier, fault == kFaultTokenCountIgnored ? 1 : turn.step().count);
  return barrier.phase != phase || fault == kFaultTokenOfLastPhase ? 1 : 0;
}

std::uint64_t take_pending_count(const Turn& turn) {
  Mbarrier& barrier = live_barrier(turn);
  const std::uint32_t pending = barrier.pending;
  arrive_times(turn, barrier, turn.step().count);
  return turn.run.fault == kFaultPendingCountBehind ? barrier.pending : pending;
}

void take_expect(const Turn& turn) {
  Mbarrier* const target = expect_target(turn);
  if (target == nullptr) return;
  const bool arrives = turn.step().verb == Verb::arrive_expect_tx;
  if (arrives || turn.run.fault != kFaultExpectAloneIgnored) expect_tx(*target, turn.step().bytes);
  if (arrives) arrive_times(turn, *target, 1);
}

void take_complete_tx(const Turn& turn) {
  const std::uint32_t cta = meant_cta(turn);
  const bool stays = turn.run.fault == kFaultCompleteRemoteLocal;
  take_off(live_barrier(turn, stays ? turn.cta : cta), turn.step().bytes);
}

std::uint64_t take_test(const Turn& turn) {
  return test_wait(live_barrier(turn), parity_of(turn)) ? 1 : 0;
}

std::uint64_t take_wait(const Turn& turn) {
  BulkEngine& engine = turn.run.engine;
  const std::uint32_t parity = parity_of(turn);
  const std::uint32_t tries = engine.chunks_in_flight() + kSpareTries;
  if (wait_bounded(engine, live_barrier(turn), parity, tries)) {
    turn.memory().phase = parity ^ 1U;
    return 1;
  }
  if (turn.step().stops) stop(turn);
  return 0;
}

bool has_to_wait(const Turn& turn) {
  const BarrierMemory& memory = turn.memory();
  return memory.live && !test_wait(memory.barrier, parity_of(turn));
}

std::uint64_t take_meter(const Turn& turn) {
  const Step& step = turn.step();
  Mbarrier& barrier = live_barrier(turn);
  const std::uint32_t parity = parity_of(turn);
  const bool complete = test_wait(barrier, parity);
  const std::uint32_t ending = complete ? parity ^ 1U : parity;
  arrive_times(turn, barrier, complete ? step.count : step.pending);
  const std::int32_t residue = test_wait(barrier, ending) ? 0 : drain(step, barrier, ending);
  const bool settled = test_wait(barrier, ending);
  if (settled)
    turn.memory().phase = ending ^ 1U;
  else
    stop(turn);
  return meter_trace(complete, settled, residue);
}

void take_write(const Turn& turn) { plain(turn).word = turn.step().word; }

std::uint64_t take_read(const Turn& turn) {
  const BarrierMemory& memory = plain(turn);
  return turn.run.fault == kFaultCycleMemoryNotReturned ? memory.barrier.phase : memory.word;
}

// Turns a mask into copies.

namespace {

// The bit of the mask that decides about the CTA of `rank`.
std::uint32_t bit_of(const Turn& turn, std::uint32_t rank) {
  const Fault fault = turn.run.fault;
  const auto& [nx, ny, nz] = turn.run.program.cluster;
  const std::uint32_t size = nx * ny * nz;
  const std::uint32_t x = rank % nx, y = rank / nx % ny, z = rank / nx / ny;
  if (fault == kFaultMulticastMaskReversed) return size - 1 - rank;
  if (fault == kFaultMulticastMaskByX) return x;
  if (fault == kFaultMulticastMaskZFastest) return z + nz * (y + ny * x);
  if (fault == kFaultMulticastMaskFromIssuer) return (rank + size - turn.cta) % size;
  if (fault == kFaultMulticastOddCluster && size % 2 == 1) return (rank + 1) % size;
  return rank;
}

std::uint32_t highest_of(std::uint32_t mask) {
  return static_cast<std::uint32_t>(std::bit_width(mask)) - 1;
}

// The mask as the engine understands it.
std::uint32_t mask_of(const Turn& turn) {
  const Fault fault = turn.run.fault;
  std::uint32_t mask = turn.step().mask;
  const std::uint32_t highest = highest_of(mask);
  if (fault == kFaultMulticastOtherCluster && turn.run.beside) return 0;
  if (fault == kFaultMulticastHighestMissed) mask &= ~(1U << highest);
  if (fault == kFaultMulticastLowestMissed) mask &= mask - 1;
  if (fault == kFaultMulticastIssuerServed) mask |= 1U << turn.cta;
  if (fault == kFaultMulticastNextServed) mask |= 2U << highest;
  if (fault == kFaultMulticastIssuerOnly) mask = 1U << turn.cta;
  if (fault == kFaultMulticastMaskFourBits) mask &= 0xfU;
  return mask;
}

bool is_multicast(const Turn& turn, std::size_t number) {
  const auto& steps = turn.run.program.steps;
  return number < steps.size() && steps[number].verb == Verb::load && steps[number].mask != 0;
}

// How many multicasts follow each other up to this one, which is not counted.
std::size_t multicasts_before(const Turn& turn) {
  std::size_t before = 0;
  while (before < turn.number && is_multicast(turn, turn.number - before - 1)) ++before;
  return before;
}

// Where the box of this multicast lands, which may be another one's place.
std::uint32_t place_taken(const Turn& turn, std::uint32_t offset) {
  const std::size_t before = multicasts_before(turn);
  const auto place_of = [&](std::size_t number) { return turn.run.program.steps[number].offset; };
  if (turn.run.fault == kFaultMulticastSlicesPiledUp) return place_of(turn.number - before);
  if (turn.run.fault != kFaultMulticastSlicesExchanged) return offset;
  if (before == 1) return place_of(turn.number - 1);
  return before == 0 && is_multicast(turn, turn.number + 1) ? place_of(turn.number + 1) : offset;
}

Fault geometry_fault(const Turn& turn, std::uint32_t rank) {
  const Fault fault = turn.run.fault;
  if (rank != turn.cta && fault == kFaultMulticastFillAtIssuerOnly) return kFaultFillSkipped;
  if (rank != turn.cta && fault == kFaultMulticastSwizzleAtIssuerOnly) return kFaultSwizzleIgnored;
  return fault;
}

// What goes wrong with the delivery to the CTA of `rank` alone, as the fault of a plain load.
Fault delivery_fault(const Turn& turn, std::uint32_t rank) {
  const Fault fault = turn.run.fault;
  const std::uint32_t mask = turn.step().mask;
  const bool lowest = (mask & ((1U << rank) - 1)) == 0, highest = mask >> (rank + 1) == 0;
  if (fault == kFaultMulticastCreditShort && highest) return kFaultCreditShort;
  if (fault == kFaultMulticastCreditInsideOnly && highest) return kFaultCreditInsideOnly;
  if (fault == kFaultMulticastChunkDropped && highest) return kFaultChunkDropped;
  if (fault == kFaultMulticastLastChunkLate && highest) return kFaultCreditBeforeLastChunk;
  if (fault == kFaultMulticastCreditTwice && lowest) return kFaultCreditTwice;
  if (fault == kFaultMulticastChunksExchanged && lowest) return kFaultChunksExchanged;
  return fault;
}

Leg make_leg(const Turn& turn, std::uint32_t rank, std::uint32_t place, std::uint32_t places) {
  const Fault fault = turn.run.fault;
  const std::uint32_t next = (rank + 1) % ctas_of(turn.run.program);
  const bool lowest = place == 0;
  Leg leg{.to = rank,
          .told = rank,
          .written = rank,
          .offset = place_taken(turn, turn.step().offset),
          .place = place,
          .places = places,
          .geometry = geometry_fault(turn, rank),
          .delivery = delivery_fault(turn, rank)};
  if (fault == kFaultMulticastCreditToIssuer) leg.told = turn.cta;
  if (fault == kFaultMulticastCreditToNext && lowest) leg.told = next;
  if (fault == kFaultMulticastWrongWindow && lowest) leg.written = next;
  if (fault == kFaultMulticastShifted && place + 1 == places) leg.offset += kChunkBytes;
  return leg;
}

}  // namespace

std::vector<Leg> legs_of(const Turn& turn, std::uint32_t offset) {
  const Fault fault = turn.run.fault;
  if (turn.step().mask == 0)
    return {{.to = turn.cta,
             .told = turn.cta,
             .written = turn.cta,
             .offset = offset,
             .geometry = fault,
             .delivery = fault}};
  const std::uint32_t mask = mask_of(turn);
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t rank = 0; rank < ctas_of(turn.run.program); ++rank)
    if ((mask >> bit_of(turn, rank) & 1U) != 0) ranks.push_back(rank);
  const auto places = static_cast<std::uint32_t>(ranks.size());
  const bool last_of_several = multicasts_before(turn) > 0 && !is_multicast(turn, turn.number + 1);
  std::vector<Leg> legs;
  for (std::uint32_t place = 0; place < places; ++place) {
    const bool missed = fault == kFaultMulticastLastSliceMissed && last_of_several;
    if (missed && place + 1 == places) continue;
    legs.push_back(make_leg(turn, ranks[place], place, places));
  }
  return legs;
}

void issue_split(ProgramRun& run, const BulkCopy& copy, const Leg& leg) {
  const std::uint32_t place = leg.place, places = leg.places;
  BulkCopy credited = copy;
  credited.chunks = (copy.chunks + places - 1 - place) / places;
  credited.chunk = [=](std::uint32_t index) { return copy.chunk(index * places + place); };
  BulkCopy silent = copy;
  silent.chunks = copy.chunks - credited.chunks;
  silent.barrier = &run.nowhere;
  silent.chunk = [=](std::uint32_t index) {
    const std::uint32_t other = index % (places - 1);
    return copy.chunk(index / (places - 1) * places + other + (other >= place ? 1 : 0));
  };
  run.engine.issue(credited);
  run.engine.issue(silent);
}

}  // namespace tidemark
