// The moments at which one process leaves something for another, and random delays for tests.
#include "harness/base/hand_over.hpp"

#include <chrono>
#include <thread>

#include "harness/base/environment.hpp"
#include "kernels/ops/payload.hpp"

namespace tidemark {

HandOverDelays::HandOverDelays(std::uint64_t seed, std::uint32_t actor)
    : state_(splitmix64(splitmix64(seed) + actor)) {}

HandOverDelays HandOverDelays::from_environment(std::uint32_t actor) {
  const auto seed = whole_number<std::uint64_t>(variable_of("TIDEMARK_TEST_DELAYS"));
  return seed ? HandOverDelays(*seed, actor) : HandOverDelays();
}

void HandOverDelays::before(HandOver moment) {
  if (!state_) return;
  const std::uint64_t drawn = splitmix64((*state_)++ ^ (static_cast<std::uint64_t>(moment) << 60U));
  const bool longer = drawn % 64 == 0;
  const std::uint64_t most_us = longer ? 10'000 : 100;
  std::this_thread::sleep_for(std::chrono::microseconds((drawn >> 8U) % most_us));
}

}  // namespace tidemark
