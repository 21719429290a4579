// What host and kernel of a barrier cycle tell each other, and the launches.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>

#include "kernels/ops/barrier_cycle.hpp"

namespace tidemark::kernels {

/// The most phases that a cycle may have: one byte of the ledger each.
inline constexpr std::uint32_t kCyclePhases = 64;

/// Bits of BarrierCycleLedger::phases.
inline constexpr std::uint8_t kSeenEarly = 1, kSeenBeforeLast = 2, kSeenComplete = 4;

/// Everything the kernel saw. It does not judge.
struct BarrierCycleLedger {
  std::uint32_t launch = 0;  // BarrierCycleLaunch::launch, written last: the kernel came to its end
  std::uint32_t begun = 0;   // phases
  std::array<std::uint8_t, kCyclePhases> phases{};
  std::array<std::uint64_t, kCycleLives> words{};  // read as plain data after each life
};

/// What one launch works on. The pointers are device memory.
struct BarrierCycleLaunch {
  std::uint32_t launch = 0;  // a number that no earlier launch had
  BarrierCycle cycle;
  std::uint8_t* source = nullptr;  // cycle_source_bytes
  BarrierCycleLedger* ledger = nullptr;
  std::uint8_t* windows = nullptr;  // of phase n at n * cycle_window_bytes; 16-byte aligned
};

/// The largest window that fits the shared memory of a block on the current device. Prepares the
/// kernel for it: to be called once before the first launch.
std::uint32_t prepare_barrier_cycle();

/// Fills the source.
void launch_fill_cycle(const BarrierCycleLaunch& row, cudaStream_t stream);

/// The steps of kernels/ops/barrier_cycle.hpp.
void launch_barrier_cycle(const CUtensorMap& map, const BarrierCycleLaunch& row,
                          cudaStream_t stream);

}  // namespace tidemark::kernels
