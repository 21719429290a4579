// Keeps what each counter held at first, and how far it had risen when that was told last.
#include "harness/telemetry/counter_rises.hpp"

namespace tidemark::harness {

std::vector<std::string> CounterRises::told(const std::vector<ErrorCounter>& counters) {
  std::vector<std::string> rose;
  for (const ErrorCounter& counter : counters) {
    if (!counter.errors) {
      if (unknown_.insert(counter.name).second)
        rose.push_back(counter.name + " are unknown: NVML does not say");
      continue;
    }
    const std::uint64_t errors = *counter.errors;
    Rise& rise = rises_.try_emplace(counter.name, Rise{.first = errors}).first->second;
    if (errors < rise.first) rise = Rise{.first = errors};  // the driver is new
    const std::uint64_t above = errors - rise.first;
    if (above == 0 || above < 2 * rise.told) continue;
    rise.told = above;
    rose.push_back(counter.name + " rose");
  }
  return rose;
}

}  // namespace tidemark::harness
