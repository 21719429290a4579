// One mbarrier through several lives: initialised, used for some phases, invalidated, its memory
// used as plain data, initialised again with another count.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/ops/payload.hpp"
#include "kernels/ops/tensor_map.hpp"

namespace tidemark::kernels {

/// From an init to the inval.
struct BarrierLife {
  std::uint32_t count = 1;   // arrivals a phase, each by a thread of its own; 1..kCycleThreads
  std::uint32_t phases = 1;  // parities 0, 1, 0, ...
};

inline constexpr std::uint32_t kCycleLives = 4;
inline constexpr std::uint32_t kCycleThreads = 256;

/// One barrier cycle, run by one thread block. For each life the device initialises the same 8
/// bytes of shared memory with its count; for each phase, numbered n over all lives, it
///   1. poisons the shared window (cycle_window_bytes), and records test_wait of the phase (early);
///   2. has one thread announce tile_bytes() with arrive.expect_tx and issue the load of the box at
///      `at` + n * step; with copy_first the load is issued first and given time to land;
///   3. has other threads arrive until one arrival is missing, gives the copy time to land, and
///      records test_wait again (before_last; not for count 1, whose last arrival is that of 2);
///   4. makes the last arrival, and waits (bounded) in all threads (complete);
///   5. copies the window out.
/// After the last phase of a life it invalidates the barrier, has one thread store
/// cycle_plain_word() in its 8 bytes, and another thread read them. A phase that does not complete
/// ends the cycle; windows and words that were not reached are zero.
struct BarrierCycle {
  TensorMapSpec map;
  std::array<std::int32_t, kMaxRank> at{};
  std::array<std::int32_t, kMaxRank> step{};
  std::uint32_t life_count = 1;  // 1..kCycleLives
  std::array<BarrierLife, kCycleLives> lives{};
  bool copy_first = false;
  Payload payload;
};

/// What the runner sets for each run of a row.
constexpr Payload& payload_of(BarrierCycle& cycle) { return cycle.payload; }

constexpr std::uint32_t phases_of(const BarrierCycle& cycle) {
  std::uint32_t phases = 0;
  for (std::uint32_t i = 0; i < cycle.life_count; ++i) phases += cycle.lives[i].phases;
  return phases;
}

/// Bytes of the shared window: guard, tile (rounded up to 16), guard.
constexpr std::uint32_t cycle_window_bytes(const BarrierCycle& cycle) {
  return kGuardBytes + (tile_bytes(cycle.map) + 15) / 16 * 16 + kGuardBytes;
}

/// Bytes of the source allocation, filled with source_byte(): guard, base offset, tensor, guard.
constexpr std::uint64_t cycle_source_bytes(const BarrierCycle& cycle) {
  return (kGuardBytes + cycle.map.base_offset + tensor_bytes(cycle.map) + 15) / 16 * 16 +
         kGuardBytes;
}

/// What the barrier's memory holds as plain data after life `life`.
constexpr std::uint64_t cycle_plain_word(const BarrierCycle& cycle, std::uint32_t life) {
  return splitmix64(source_word(cycle.payload, life));
}

/// Bytes of RunResult::bytes: a window for each phase, then 8 for each life.
constexpr std::uint64_t cycle_result_bytes(const BarrierCycle& cycle) {
  return std::uint64_t{phases_of(cycle)} * cycle_window_bytes(cycle) +
         std::uint64_t{8} * cycle.life_count;
}

}  // namespace tidemark::kernels
