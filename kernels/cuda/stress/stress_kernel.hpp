// The kernels of a stress, and what they take and leave.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>

#include "kernels/ops/stress.hpp"

namespace tidemark {

/// What a launch leaves, on the device and on the host.
struct StressResults {
  StressSm sms[kStressSms + 1];  // one a CTA, ns is 0 where it left none; and of words of no CTA
  WrongWord wrong[kStressSms + 1][kKeptWrongWords];  // of each of them
  std::uint32_t cycles[kStressSms];                  // by SM: see launch_stress_latency()
  std::uint32_t sink;                                // written, never read
};

/// What one launch is to do. By value: maps have to be kernel parameters.
struct StressLaunch {
  CUtensorMap maps[kStressMaps];
  StressShape shapes[kStressMaps];
  std::uint32_t map_count = 0;
  StressCopy copy = StressCopy::load;
  std::uint32_t cluster = 1;
  std::uint32_t word_seed = 0;  // of stress_word()
  std::uint8_t* memory = nullptr;
  std::uint64_t memory_bytes = 0;
  std::uint64_t seed = 0;
  std::uint64_t ns = 0;  // each SM draws no box after so long
  SpoiledBoxes spoiled;
  StressResults* results = nullptr;
};

/// Fills `bytes` of `memory` with stress_word().
void launch_stress_fill(std::uint8_t* memory, std::uint64_t bytes, std::uint32_t word_seed,
                        cudaStream_t stream);

/// One CTA on each of `sms` SMs; of clusters as many as fit at once, which may be none. How many.
std::uint32_t launch_stress(const StressLaunch& launch, std::uint32_t sms, bool products,
                            cudaStream_t stream);

/// The kernels of loads, of loads beside products, of multicasts, and of stores and reductions.
std::array<const void*, 4> stress_kernels();

/// Behind a writing copy of so many CTAs: compares all of the memory with what they can have left.
void launch_stress_scan(const StressLaunch& launch, std::uint32_t ctas, cudaStream_t stream);

/// Threads read `bytes` of `memory` `times` times, past L1: what copies are compared with. `sink`
/// is written where a sum is what it nearly never is.
void launch_plain_read(const std::uint8_t* memory, std::uint64_t bytes, std::uint32_t times,
                       std::uint32_t* sink, std::uint32_t sms, cudaStream_t stream);

/// On each SM one thread times kLatencyLoads loads of 16 bytes that L2 holds, one after the other.
/// `results->cycles` become the mean from issue until seen, kLatencyLost where one never came.
void launch_stress_latency(const std::uint8_t* memory, std::uint32_t sms, StressResults* results,
                           cudaStream_t stream);
inline constexpr std::uint32_t kLatencyLost = ~0U;

}  // namespace tidemark
