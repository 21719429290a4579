// Keeps what each counter held at first, and how far it had risen when that was told last.
#include "harness/telemetry/counter_rises.hpp"

namespace tidemark::harness {

std::vector<std::string> CounterRises::told(const std::vector<ErrorCounter>& counters) {
  std::vector<std::string> rose;
  for (const ErrorCounter& counter : counters) {
    Rise& rise = rises_.try_emplace(counter.name, Rise{.first = counter.errors}).first->second;
    if (counter.errors < rise.first) rise = Rise{.first = counter.errors};  // the driver is new
    const std::uint64_t above = counter.errors - rise.first;
    if (above == 0 || above < 2 * rise.told) continue;
    rise.told = above;
    rose.push_back(counter.name + " rose");
  }
  return rose;
}

}  // namespace tidemark::harness
