// The host's half of a barrier cycle: encode, launch, read back, say what came of it.
#include "kernels/cuda/barrier_cycle.hpp"

#include <fmt/core.h>

#include <optional>

#include "kernels/cuda/barrier_cycle_kernel.hpp"
#include "kernels/cuda/check.hpp"
#include "kernels/cuda/encode.hpp"

namespace tidemark::kernels {
namespace {

void require_sound(const BarrierCycle& cycle) {
  if (cycle.map.rank < 1 || cycle.map.rank > kMaxRank)
    throw Error(fmt::format("barrier cycle: rank {} is outside 1..{}", cycle.map.rank, kMaxRank));
  if (cycle.life_count < 1 || cycle.life_count > kCycleLives || phases_of(cycle) > kCyclePhases)
    throw Error(fmt::format("barrier cycle: {} lives and {} phases; take at most {} and {}",
                            cycle.life_count, phases_of(cycle), kCycleLives, kCyclePhases));
  for (std::uint32_t i = 0; i < cycle.life_count; ++i)
    if (cycle.lives[i].count < 1 || cycle.lives[i].count > kCycleThreads ||
        cycle.lives[i].phases < 1)
      throw Error(fmt::format("barrier cycle: life {} with {} arrivals and {} phases", i,
                              cycle.lives[i].count, cycle.lives[i].phases));
  static const std::uint32_t largest = prepare_barrier_cycle();
  if (cycle_window_bytes(cycle) > largest)
    throw Error(
        fmt::format("barrier cycle: a window of {} bytes does not fit the {} bytes of shared "
                    "memory that a block has: choose a smaller box",
                    cycle_window_bytes(cycle), largest));
}

std::size_t windows_bytes(const BarrierCycle& cycle) {
  return std::size_t{phases_of(cycle)} * cycle_window_bytes(cycle);
}

template <class Result>
bool encode_here(RowWorkspace& workspace, const BarrierCycle& cycle, Encoded& encoded,
                 Result& result) {
  encoded = encode_and_allocate(workspace, cycle.map, [&] {
    return RowBytes{.answer = kLedgerBytes + windows_bytes(cycle),
                    .tensor = cycle_source_bytes(cycle)};
  });
  if (encoded.code == CUDA_SUCCESS) return true;
  result.fault = DeviceFault::encode_refused;
  result.code = static_cast<std::int32_t>(encoded.code);
  result.note = encode_refusal(encoded.code);
  return false;
}

BarrierCycleLaunch launch_of(RowWorkspace& workspace, const BarrierCycle& cycle) {
  return {.launch = ++workspace.launches,
          .cycle = cycle,
          .source = workspace.tensor.as<std::uint8_t>(),
          .ledger = workspace.answer.as<BarrierCycleLedger>(),
          .windows = workspace.answer.as<std::uint8_t>() + kLedgerBytes};
}

void take_ledger(const BarrierCycleLedger& seen, const BarrierCycle& cycle, RunResult& result) {
  result.ledger.complete = true;
  for (std::uint32_t i = 0; i < seen.begun; ++i) {
    const BarrierPhase phase{.early = (seen.phases[i] & kSeenEarly) != 0,
                             .before_last = (seen.phases[i] & kSeenBeforeLast) != 0,
                             .complete = (seen.phases[i] & kSeenComplete) != 0};
    result.ledger.phases.push_back(phase);
    result.ledger.announced += tile_bytes(cycle.map);
    result.ledger.complete &= phase.complete;
  }
  if (result.ledger.complete) return;
  result.fault = DeviceFault::timeout;
  result.note = fmt::format("phase {} of all did not complete inside its bound", seen.begun - 1);
}

// The words of the lives that came to their end; the rest of the result stays zero.
void take_bytes(const RowWorkspace& workspace, const BarrierCycleLedger& seen,
                const BarrierCycle& cycle, RunResult& result) {
  const auto* const windows = workspace.host.as<std::uint8_t>() + kLedgerBytes;
  const auto* const source = windows + windows_bytes(cycle);
  result.bytes.assign(windows, windows + std::size_t{seen.begun} * cycle_window_bytes(cycle));
  result.bytes.resize(cycle_result_bytes(cycle));
  std::uint32_t last_phase = 0;
  for (std::uint32_t i = 0; i < cycle.life_count; ++i) {
    last_phase += cycle.lives[i].phases;
    if (last_phase > seen.begun || !result.ledger.phases[last_phase - 1].complete) break;
    std::memcpy(&result.bytes[windows_bytes(cycle) + std::size_t{8} * i], &seen.words[i], 8);
  }
  result.surroundings.assign(source, source + cycle_source_bytes(cycle));
}

void run_row(RowWorkspace& workspace, const BarrierCycle& cycle, RunResult& result) {
  require_sound(cycle);
  Encoded encoded;
  if (!encode_here(workspace, cycle, encoded, result)) return;
  result.descriptor = descriptor_bytes(encoded.map);
  const BarrierCycleLaunch row = launch_of(workspace, cycle);
  launch_fill_cycle(row, workspace.stream.get());
  launch_barrier_cycle(encoded.map, row, workspace.stream.get());
  read_back(workspace, kLedgerBytes + windows_bytes(cycle), cycle_source_bytes(cycle));
  const std::optional<BarrierCycleLedger> seen =
      wait_for_ledger<BarrierCycleLedger>(workspace, row.launch);
  if (!seen) {
    result.fault = DeviceFault::timeout;
    result.note = hung_note();
    return;
  }
  take_ledger(*seen, cycle, result);
  take_bytes(workspace, *seen, cycle, result);
}

}  // namespace

RunResult run_barrier_cycle(RowWorkspace& workspace, const BarrierCycle& cycle) {
  RunResult result;
  catch_sticky(result, [&] { run_row(workspace, cycle, result); });
  return result;
}

}  // namespace tidemark::kernels
