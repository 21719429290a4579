// SplitMix64: a counter and a mix, equal on every machine.
#include "harness/hand_over.hpp"

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <thread>

namespace tidemark::harness {
namespace {

constexpr std::uint64_t kIncrement = 0x9e3779b97f4a7c15;

std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111eb;
  return value ^ (value >> 31U);
}

}  // namespace

HandOverDelays::HandOverDelays(std::uint64_t seed, std::uint32_t actor)
    : state_(mixed(mixed(seed) + actor)) {}

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
  *state_ += kIncrement;
  const std::uint64_t drawn = mixed(*state_ + static_cast<std::uint64_t>(moment));
  const bool longer = drawn % 64 == 0;
  const std::uint64_t most_us = longer ? 10'000 : 100;
  std::this_thread::sleep_for(std::chrono::microseconds((drawn >> 8U) % most_us));
}

}  // namespace tidemark::harness
