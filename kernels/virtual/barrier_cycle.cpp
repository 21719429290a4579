// Runs a barrier through its lives on the host, phase by phase.
#include "kernels/virtual/barrier_cycle.hpp"

#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "kernels/error.hpp"
#include "kernels/virtual/barrier_cycle_faults.hpp"
#include "kernels/virtual/tile_chunks.hpp"
#include "kernels/virtual/tile_memory.hpp"

namespace tidemark::kernels {
namespace {

constexpr std::uint32_t kWaitTries = 20000;

struct VirtualCycle {
  const BarrierCycle& cycle;
  Fault fault;
  std::vector<std::uint8_t> source;
  BulkEngine engine;
  SharedWindow window;
  Mbarrier barrier;
  std::uint32_t phase = 0;  // over all lives
};

void require_sound(const BarrierCycle& cycle) {
  if (cycle.life_count < 1 || cycle.life_count > kCycleLives)
    throw Error(
        fmt::format("barrier cycle: {} lives; take 1 to {}", cycle.life_count, kCycleLives));
  for (std::uint32_t i = 0; i < cycle.life_count; ++i)
    if (cycle.lives[i].count < 1 || cycle.lives[i].count > kCycleThreads ||
        cycle.lives[i].phases < 1)
      throw Error(fmt::format("barrier cycle: life {} with {} arrivals and {} phases", i,
                              cycle.lives[i].count, cycle.lives[i].phases));
}

TileLoad load_of_phase(const BarrierCycle& cycle, std::uint32_t phase) {
  TileLoad load{.map = cycle.map, .at = cycle.at, .payload = cycle.payload};
  for (std::uint32_t i = 0; i < cycle.map.rank; ++i)
    load.at[i] += static_cast<std::int32_t>(phase) * cycle.step[i];
  return load;
}

// Step 0 of a life. The barrier of the life before is still there for faults to remember.
void init_for(VirtualCycle& run, std::uint32_t life) {
  const Mbarrier before = run.barrier;
  std::uint32_t count = run.cycle.lives[life].count;
  if (run.fault == kFaultCycleArrivalEarly && count > 1) --count;
  if (run.fault == kFaultCycleArrivalLate) ++count;
  if (run.fault == kFaultCycleCountSurvives && life > 0) count = run.cycle.lives[0].count;
  run.barrier = init_mbarrier(count, run.fault);
  if (run.fault == kFaultCyclePhaseSurvives && life > 0) run.barrier.phase = before.phase;
}

void issue(VirtualCycle& run, const TileLoad& load) {
  const TileGeometry tile = tile_geometry(load, kWindowAddress + kGuardBytes, run.fault);
  run.engine.issue({.chunks = chunk_count(tile),
                    .chunk = [&source = run.source,
                              tile](std::uint32_t i) { return tile_chunk(tile, source, i); },
                    .destination = tile.destination,
                    .shared = &run.window,
                    .barrier = &run.barrier});
}

void announce_and_issue(VirtualCycle& run, const TileLoad& load) {
  if (run.cycle.copy_first) {
    issue(run, load);
    run.engine.deliver_all();
    if (run.fault == kFaultCycleEarlyCreditLost && run.barrier.tx < 0) run.barrier.tx = 0;
  }
  expect_tx(run.barrier, tile_bytes(run.cycle.map));
  arrive_if_awaited(run.barrier);
  if (!run.cycle.copy_first) issue(run, load);
}

BarrierPhase run_phase(VirtualCycle& run, std::uint32_t count, std::uint32_t parity) {
  const TileLoad load = load_of_phase(run.cycle, run.phase);
  if (run.fault == kFaultCycleParityStuck) parity = 0;
  BarrierPhase seen;
  run.window = make_window(load);
  seen.early = test_wait(run.barrier, parity);
  announce_and_issue(run, load);
  for (std::uint32_t i = 2; i < count; ++i) arrive_if_awaited(run.barrier);
  if (count > 1) {
    run.engine.deliver_all();
    seen.before_last = test_wait(run.barrier, parity);
    arrive_if_awaited(run.barrier);
  }
  seen.complete = wait_bounded(run.engine, run.barrier, parity, kWaitTries);
  if (run.fault == kFaultCyclePendingNotRestored && seen.complete) run.barrier.pending = 1;
  return seen;
}

// All phases of one life; false where one did not complete.
bool run_life(VirtualCycle& run, std::uint32_t life, RunResult& result) {
  const BarrierLife& lived = run.cycle.lives[life];
  init_for(run, life);
  for (std::uint32_t i = 0; i < lived.phases; ++i) {
    result.ledger.announced += tile_bytes(run.cycle.map);
    const BarrierPhase seen = run_phase(run, lived.count, i & 1U);
    result.ledger.phases.push_back(seen);
    const std::size_t to = std::size_t{run.phase++} * cycle_window_bytes(run.cycle);
    std::memcpy(&result.bytes[to], run.window.bytes.data(), run.window.bytes.size());
    run.engine.deliver_all();  // copying out takes longer than any copy
    if (!seen.complete) return false;
  }
  std::uint64_t word = cycle_plain_word(run.cycle, life);
  if (run.fault == kFaultCycleMemoryNotReturned) word = run.barrier.phase;
  const std::size_t words = std::size_t{phases_of(run.cycle)} * cycle_window_bytes(run.cycle);
  std::memcpy(&result.bytes[words + std::size_t{8} * life], &word, 8);
  return true;
}

}  // namespace

RunResult run_virtual_barrier_cycle(const BarrierCycle& cycle, Fault fault) {
  require_sound(cycle);
  RunResult result;
  for (const std::uint32_t phase : {0U, phases_of(cycle) - 1}) {
    result = preflight(load_of_phase(cycle, phase));
    if (result.fault != DeviceFault::none) return result;
  }
  VirtualCycle run{.cycle = cycle,
                   .fault = fault,
                   .source = make_source(load_of_phase(cycle, 0)),
                   .engine = BulkEngine(cycle.payload.seed, fault),
                   .window = {},
                   .barrier = {}};
  result.bytes.resize(cycle_result_bytes(cycle));
  result.ledger.complete = true;
  for (std::uint32_t life = 0; life < cycle.life_count && result.ledger.complete; ++life)
    result.ledger.complete = run_life(run, life, result);
  result.surroundings = std::move(run.source);
  if (!result.ledger.complete) {
    result.fault = DeviceFault::timeout;
    result.note = fmt::format("the wait for phase {} of all ended by its bound", run.phase - 1);
  }
  return result;
}

}  // namespace tidemark::kernels
