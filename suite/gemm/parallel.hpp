// Splits a loop of the verification over the cores, so that a product of 8192 cubed is checked in
// seconds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <system_error>
#include <thread>
#include <vector>

namespace tidemark {

/// Calls part(first, last) for consecutive parts of [0, count), each in a thread of its own, and
/// returns when all are done. `work` is the number of elementary steps in all of it: below some
/// millions the calling thread does it alone. `part` must not throw.
template <class Part>
void in_parallel(std::uint64_t count, std::uint64_t work, const Part& part) {
  constexpr std::uint64_t kWorthAThread = 1U << 24;
  const std::uint64_t cores = std::max(1U, std::thread::hardware_concurrency());
  const std::uint64_t threads = std::min({cores, count, work / kWorthAThread + 1});
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

}  // namespace tidemark
