// Splits a loop of the verification over the cores, so that a product of 8192 cubed is checked in
// seconds.
#pragma once

#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <system_error>
#include <thread>
#include <vector>

namespace tidemark::suite {

/// How many CPUs this process may run on: where it is bound, hardware_concurrency() says more.
inline std::uint64_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  // Fails where the machine has more CPUs than fit into the set.
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return static_cast<std::uint64_t>(std::max(1, CPU_COUNT(&set)));
  return std::max(1U, std::thread::hardware_concurrency());
}

/// Calls part(first, last) for consecutive parts of [0, count), each in a thread of its own, and
/// returns when all are done. `work_ns` is about how long one core would take for all of it: below
/// some tenths of a millisecond the calling thread does it alone. `part` must not throw.
template <class Part>
void in_parallel(std::uint64_t count, std::uint64_t work_ns, const Part& part) {
  constexpr std::uint64_t kWorthAThread = 300'000;  // starting and joining one takes some 30 us
  const std::uint64_t cores = usable_cores();
  const std::uint64_t threads = std::min({cores, count, work_ns / kWorthAThread + 1});
  if (threads <= 1) {
    if (count > 0) part(std::uint64_t{0}, count);
    return;
  }
  std::vector<std::jthread> running;  // joined by their destructors
  running.reserve(threads);
  for (std::uint64_t i = 0; i < threads; ++i) {
    const std::uint64_t first = count * i / threads;
    const std::uint64_t last = count * (i + 1) / threads;
    try {
      running.emplace_back(part, first, last);
    } catch (const std::system_error&) {
      part(first, last);  // the machine gives no more threads: slower, but not wrong
    }
  }
}

}  // namespace tidemark::suite
