// One sample a run, after the warm-ups.
#include "kernels/virtual/measure_runs.hpp"

#include <chrono>

namespace tidemark {

Measurement measure_runs(const Timing& timing, const std::function<RunResult()>& run) {
  using Clock = std::chrono::steady_clock;
  Measurement measurement;
  for (std::uint32_t i = 0; i < timing.warmups + timing.samples; ++i) {
    const Clock::time_point begin = Clock::now();
    const RunResult result = run();
    const std::chrono::duration<double, std::nano> elapsed = Clock::now() - begin;
    if (result.fault != DeviceFault::none) {
      measurement.fault = result.fault;
      measurement.code = result.code;
      measurement.note = result.note;
      return measurement;
    }
    const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
    if (i >= timing.warmups)
      measurement.samples.push_back(
          {.at_unix_s = now.count(), .total_ns = elapsed.count(), .exchange_ns = 0});
  }
  return measurement;
}

}  // namespace tidemark
