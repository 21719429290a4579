// Phases of mbarriers. PTX ISA 9.0, 9.7.13.15.
#include "suite/oracle/program/walk.hpp"

#include <algorithm>
#include <optional>

namespace tidemark {
namespace {

void complete(BarrierState& barrier) {
  ++barrier.phase;
  barrier.pending = barrier.count;
  for (Flight& flight : barrier.flights) flight.phase_done = true;
}

// The phase completes when everything in flight has landed, and not before.
bool will_complete(const BarrierState& barrier) {
  return barrier.pending == 0 && barrier.flying > 0 && barrier.tx == barrier.flying;
}

bool are_others_unmet(const Walk& walk, const BarrierState& barrier) {
  return barrier.others_at && (!walk.met || *barrier.others_at > *walk.met);
}

// A phase has completed by the order of the steps, to which others came that may be late.
bool may_be_late(const Walk& walk, const BarrierState& barrier) {
  return are_others_unmet(walk, barrier) && barrier.phase != barrier.others_from;
}

// The parity that a step names; none where only the device knows it.
std::optional<std::uint32_t> parity_of(const Step& step, const BarrierState& barrier) {
  if (step.parity < kCurrentPhase) {
    if (!barrier.counted) return {};
    return step.parity;
  }
  if (!barrier.seen) return {};
  return (*barrier.seen & 1U) ^ (step.parity == kLastPhase ? 1U : 0U);
}

bool is_complete(const BarrierState& barrier, std::uint32_t parity) {
  return (barrier.phase & 1U) != parity;
}

// A wait whose outcome is open: all that is known afterwards is that time went by.
ExpectedTrace open_wait(BarrierState& barrier) {
  const bool completes = will_complete(barrier);
  land(barrier);
  if (!completes || barrier.seen != barrier.phase) barrier.seen.reset();
  return kOpen;
}

// How many bytes the meter has to take off for the phase to complete; none where it cannot.
bool settles(const Step& step, const BarrierState& barrier) {
  const std::int64_t left = barrier.tx + step.bytes - step.stride;
  return barrier.tx == 0 || (left >= 0 && left <= step.most);
}

}  // namespace

void advance(BarrierState& barrier) {
  if (barrier.pending > 0) return;
  if (barrier.flying == 0) {
    if (barrier.tx == 0 && !barrier.open) complete(barrier);
    return;
  }
  // More comes than is announced: if a piece ends where the count is zero the phase is over early.
  if (barrier.tx >= 0 && barrier.tx < barrier.flying && barrier.tx % barrier.step == 0)
    barrier.open = true;
}

ExpectedTrace test(const Walk& walk, const Step& step, const BarrierState& barrier) {
  const auto parity = parity_of(step, barrier);
  if (!parity || barrier.open || will_complete(barrier) || may_be_late(walk, barrier)) return kOpen;
  return {.value = is_complete(barrier, *parity) ? 1U : 0U};
}

ExpectedTrace wait(Walk& walk, const Step& step, ExpectedCta& cta, BarrierState& barrier) {
  const auto parity = parity_of(step, barrier);
  if (!parity || barrier.open || step.ns < kLandNs) return open_wait(barrier);
  // The phase of the other parity may end while the wait begins, and be taken for this one.
  if (is_complete(barrier, *parity) && will_complete(barrier)) return open_wait(barrier);
  const bool waits = !is_complete(barrier, *parity);
  if (waits) land(barrier);
  if (!is_complete(barrier, *parity)) {
    cta.stopped = step.stops;
    return {.value = 0};
  }
  barrier.seen = barrier.phase;
  if (barrier.others_in < barrier.phase) barrier.others_at.reset();
  see_sends(walk, barrier);
  see_boxes(walk, cta, barrier);
  return {.value = 1};
}

ExpectedTrace meter(const Walk& walk, const Step& step, ExpectedCta& cta, BarrierState& barrier) {
  const bool racing = barrier.open || will_complete(barrier);
  land(barrier);
  const auto parity = parity_of(step, barrier);
  const bool ended = parity && is_complete(barrier, *parity);
  if (!barrier.open && (ended ? step.count : step.pending) != barrier.pending)
    walk.refuse(fmt::format("the phase waits for {} arrivals; {} come", barrier.pending,
                            ended ? step.count : step.pending));
  const bool settled = settles(step, barrier);
  const auto residue = static_cast<std::int32_t>(barrier.tx);
  ExpectedTrace trace{.value = meter_trace(ended, settled, residue)};
  if (racing || !parity)
    trace = {.value = trace.value & ~kMeterComplete, .judged = ~kMeterComplete};
  barrier.counted = barrier.counted && !barrier.open;
  barrier.open = false;
  barrier.tx = 0;
  cta.stopped = !settled;
  complete(barrier);
  barrier.seen = barrier.phase;
  return trace;
}

void init(const Walk& walk, const Step& step, BarrierState& barrier) {
  if (barrier.alive) walk.refuse("the barrier is in use; invalidate it first");
  barrier = {.alive = true,
             .count = step.count,
             .pending = step.count,
             .flights = {},
             .begun_at = walk.step};
}

void arrive(const Walk& walk, const Step& step, BarrierState& barrier, std::uint32_t arrivals) {
  if (barrier.open) walk.refuse("an arrival on a phase that may have ended");
  if (arrivals > barrier.pending)
    walk.refuse(fmt::format("{} arrivals where the phase waits for {}", arrivals, barrier.pending));
  if (step.verb == Verb::arrive_expect_tx) barrier.tx += step.bytes;
  // PTX ISA 9.0, 9.7.13.15.14: the count of later phases falls first.
  if (step.verb == Verb::arrive_drop) {
    if (arrivals >= barrier.count) walk.refuse("no document says what a phase without arrivals is");
    barrier.count -= arrivals;
  }
  barrier.pending -= arrivals;
  advance(barrier);
}

ExpectedTrace arrive_token(const Walk& walk, const Step& step, BarrierState& barrier) {
  const std::uint32_t phase = barrier.phase;
  arrive(walk, step, barrier, step.count);
  if (barrier.open || will_complete(barrier) || may_be_late(walk, barrier)) return kOpen;
  return {.value = barrier.phase != phase ? 1U : 0U};
}

ExpectedTrace pending_count(const Walk& walk, const Step& step, BarrierState& barrier) {
  if (step.count >= barrier.pending)
    walk.refuse(fmt::format("{} arrivals of {}, and .noComplete may not be the last", step.count,
                            barrier.pending));
  if (are_others_unmet(walk, barrier))
    walk.refuse("the CTAs have not met since another came to the barrier; have a cluster_sync");
  barrier.counted_at = walk.step;
  const std::uint32_t pending = barrier.pending;
  arrive(walk, step, barrier, step.count);
  return {.value = pending};
}

void come_from_outside(const Walk& walk, BarrierState& barrier) {
  if (barrier.counted_at && (!walk.met || *barrier.counted_at > *walk.met))
    walk.refuse("the CTAs have not met since the arrivals were counted; have a cluster_sync");
  if (!are_others_unmet(walk, barrier)) barrier.others_from = barrier.phase;
  barrier.others_at = walk.step;
  barrier.others_in = barrier.phase;
}

void require_alive(const Walk& walk, const Step& step, const BarrierState& barrier) {
  const bool plain = step.verb == Verb::init || step.verb == Verb::write || step.verb == Verb::read;
  if (!plain && !barrier.alive) walk.refuse("the barrier is not initialized");
  if (plain && barrier.alive && step.verb != Verb::init)
    walk.refuse("the barrier is in use; invalidate it first");
}

}  // namespace tidemark
