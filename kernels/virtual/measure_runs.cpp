// One sample a run, after the warm-ups.
#include "kernels/virtual/measure_runs.hpp"

#include <fmt/core.h>

#include <chrono>
#include <vector>

#include "kernels/slowdown.hpp"

namespace tidemark::kernels {

void spin_on_host(double ns) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::duration<double, std::nano>(ns);
  while (Clock::now() < until) {
  }
}

std::string host_spin_note(double ns) {
  return fmt::format("slowed on purpose: the host spins {:.1f} us more in each sample", ns / 1000);
}

Measurement measure_runs(const Timing& timing, const std::function<RunResult()>& run) {
  using Clock = std::chrono::steady_clock;
  Measurement measurement;
  std::vector<double> untouched_ns;
  double added_ns = 0;
  for (std::uint32_t i = 0; i < timing.warmups + timing.samples; ++i) {
    if (i == timing.warmups && timing.slow > 0) added_ns = extra_ns(untouched_ns, timing.slow);
    const Clock::time_point begin = Clock::now();
    const RunResult result = run();
    spin_on_host(added_ns);
    const std::chrono::duration<double, std::nano> elapsed = Clock::now() - begin;
    if (result.fault != DeviceFault::none) {
      measurement.fault = result.fault;
      measurement.code = result.code;
      measurement.note = result.note;
      return measurement;
    }
    const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
    if (i < timing.warmups) {
      untouched_ns.push_back(elapsed.count());
      continue;
    }
    measurement.samples.push_back(
        {.at_unix_s = now.count(), .total_ns = elapsed.count(), .exchange_ns = 0});
  }
  if (added_ns > 0) measurement.note = host_spin_note(added_ns);
  return measurement;
}

}  // namespace tidemark::kernels
