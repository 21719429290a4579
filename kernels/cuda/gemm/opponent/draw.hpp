// What a kernel draws while it runs back to back: watts and joules from NVML's energy meter, and
// the clock that the power limit leaves it, from the SMs' own counters.
#pragma once

#include "kernels/cuda/gemm/tuning/duel.hpp"

namespace tidemark {

/// Of one kernel at work. NaN where NVML is not there or has no energy meter.
struct Draw {
  double watts = 0;
  double joules = 0;       // of one launch
  double sm_mhz = 0;       // mean over time and SMs
  double temperature = 0;  // degrees Celsius, at the end
  double tensor_use = 0;   // of what the tensor cores of all SMs do at that clock, 1 at most
};

/// Both sides in turn, `rounds` times; medians.
struct Draws {
  Draw ours, theirs;
};

/// Every measurement takes `measure_s` behind `settle_s` of the same kernel; `operations` are those
/// of one launch.
Draws draws_of(const Product& product, const Launch& theirs, const Launch& ours, double operations,
               double settle_s, double measure_s, int rounds);

/// What each SM's counters stood at when a kernel passed over it; 0 where it did not.
struct SmStamps {
  static constexpr int kMost = 256;
  unsigned long long clocks[kMost], nanoseconds[kMost];
};

/// Starts, on `stream`, a kernel that stamps every SM. `stamps` lies in device memory, zero before.
void launch_sm_stamps(SmStamps* stamps, cudaStream_t stream);

}  // namespace tidemark
