// One mbarrier through several lives: initialised, used for some phases, invalidated, its memory
// used as plain data, initialised again with another count.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/ops/payload.hpp"
#include "kernels/ops/program/program.hpp"
#include "kernels/ops/tensor_map.hpp"

namespace tidemark::kernels {

/// From an init to the inval.
struct BarrierLife {
  std::uint32_t count = 1;   // arrivals a phase, each by a thread of its own; 1..kProgramThreads
  std::uint32_t phases = 1;  // parities 0, 1, 0, ...
};

inline constexpr std::uint32_t kCycleLives = 4;

/// One barrier cycle, run by one CTA. For each life the program initialises the same 8 bytes of
/// shared memory with its count; for each phase, numbered n over all lives, it
///   1. poisons the window, which the first phase finds poisoned, and tests the phase;
///   2. has one thread announce tile_bytes() with arrive.expect_tx and issue the load of the box at
///      `at` + n * step; with copy_first the load is issued first and given time to land;
///   3. has other threads arrive until one arrival is missing, gives the copy time to land, and
///      tests the phase again (not for count 1, whose last arrival is that of 2);
///   4. makes the last arrival, and waits in all threads;
///   5. copies the window out.
/// After the last phase of a life it invalidates the barrier, has one thread store
/// cycle_plain_word() in its 8 bytes, and another thread read them. A phase that does not complete
/// ends the cycle.
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

/// What the barrier's memory holds as plain data after life `life`.
constexpr std::uint64_t cycle_plain_word(const BarrierCycle& cycle, std::uint32_t life) {
  return splitmix64(source_word(cycle.payload, life));
}

/// Throws Error where a life has no phase, or more arrivals than a CTA has threads.
Program program_of(const BarrierCycle& cycle);

}  // namespace tidemark::kernels
