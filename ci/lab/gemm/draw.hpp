// What a kernel draws while it runs back to back: watts and joules from NVML's energy meter, and
// the clock that the power limit leaves it, from the SMs' own counters.
#pragma once

#include <memory>
#include <vector>

#include "ci/lab/gemm/duel.hpp"
#include "kernels/cuda/buffer.hpp"

namespace tidemark {

/// Of one kernel at work. NaN where NVML is not there or has no energy meter.
struct PowerDraw {
  double launch_ns = 0;
  bool host_bound = false;  // AtWorkSample
  double watts = 0;
  double joules = 0;       // of one launch
  double sm_mhz = 0;       // mean over time and SMs
  double temperature = 0;  // degrees Celsius, at the end
  double tensor_use = 0;   // of what the tensor cores of all SMs do at that clock, 1 at most
};

/// Of several samples: the mean of each, and whether any was host_bound.
PowerDraw mean_of(const std::vector<PowerDraw>& draws);

class EnergyMeter;

/// Takes samples at work of one product's kernels, each with what is drawn meanwhile.
class DrawMeter {
 public:
  /// `operations` are those of a launch; `product` has to outlive it.
  DrawMeter(const Product& product, double operations);
  ~DrawMeter();
  DrawMeter(const DrawMeter&) = delete;
  DrawMeter& operator=(const DrawMeter&) = delete;

  /// Watts and joules want a `measure_s` of some ten readings of the energy meter, 1.2 s.
  PowerDraw of(const Launch& launch, double launch_ns, const AtWork& at_work) const;

 private:
  const Product& product_;
  double operations_;
  DeviceBuffer stamps_;
  std::unique_ptr<EnergyMeter> meter_;
  int multiprocessors_ = 0;
};

/// What each SM's counters stood at when a kernel passed over it; 0 where it did not.
struct SmStamps {
  static constexpr int kMost = 256;
  unsigned long long clocks[kMost], nanoseconds[kMost];
};

/// Starts, on `stream`, a kernel that stamps every SM. `stamps` lies in device memory, zero before.
void launch_sm_stamps(SmStamps* stamps, cudaStream_t stream);

}  // namespace tidemark
