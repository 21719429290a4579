// The moments at which one process leaves something for another, and random delays for tests.
#include "harness/base/hand_over.hpp"

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <thread>

#include "kernels/ops/payload.hpp"

namespace tidemark {

HandOverDelays::HandOverDelays(std::uint64_t seed, std::uint32_t actor)
    : state_(splitmix64(splitmix64(seed) + actor)) {}

HandOverDelays HandOverDelays::from_environment(std::uint32_t actor) {
  const char* const text = std::getenv("TIDEMARK_TEST_DELAYS");
  const std::string_view digits = text == nullptr ? "" : text;
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), seed);
  if (error != std::errc{} || end != digits.data() + digits.size()) return {};
  return HandOverDelays(seed, actor);
}

void HandOverDelays::before(HandOver moment) {
  if (!state_) return;
  const std::uint64_t drawn = splitmix64((*state_)++ ^ (static_cast<std::uint64_t>(moment) << 60U));
  const bool longer = drawn % 64 == 0;
  const std::uint64_t most_us = longer ? 10'000 : 100;
  std::this_thread::sleep_for(std::chrono::microseconds((drawn >> 8U) % most_us));
}

}  // namespace tidemark
