// Barriers of a program: their lives, what they are told, waits and the meter.
#include "kernels/virtual/program/program_barriers.hpp"

#include <fmt/format.h>

#include "kernels/error.hpp"
#include "kernels/virtual/copies/faults/program_faults.hpp"
#include "kernels/virtual/copies/faults/tile_load_faults.hpp"

namespace tidemark::kernels {
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
  memory.phase = 0;
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
  arrive_times(turn, live(turn, stays ? turn.cta : meant_cta(turn), turn.step().barrier),
               turn.step().count);
}

void take_expect(const Turn& turn) {
  Mbarrier* const target = expect_target(turn);
  if (target == nullptr) return;
  const bool arrives = turn.step().verb == Verb::arrive_expect_tx;
  if (arrives || turn.run.fault != kFaultExpectAloneIgnored) expect_tx(*target, turn.step().bytes);
  if (arrives) arrive_times(turn, *target, 1);
}

void take_complete_tx(const Turn& turn) { take_off(live_barrier(turn), turn.step().bytes); }

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

}  // namespace tidemark::kernels
