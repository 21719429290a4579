// The moments at which one process leaves something for another, and random delays for tests.
#pragma once

#include <cstdint>
#include <optional>

namespace tidemark {

/// A panel on its way through the relay passes the first four, a journal line on its way to rank 0
/// the last two.
enum class HandOver : std::uint8_t {
  post,    // the worker publishes a posting
  adopt,   // the supervisor reads it and acknowledges it
  arrive,  // the supervisor marks a shard as complete
  abort,   // the worker gives the transport up
  line,    // a supervisor sends a line of its journal
  keep,    // rank 0 writes what it received
};

/// A delay before each hand-over, drawn from a seed, so that tests meet the orders of events that
/// an idle machine never shows. Without a seed it does nothing.
class HandOverDelays {
 public:
  HandOverDelays() = default;
  /// `actor` tells the workers and supervisors of one run apart: each draws delays of its own.
  HandOverDelays(std::uint64_t seed, std::uint32_t actor);
  /// Of the seed in TIDEMARK_TEST_DELAYS; no delays where that is not a number.
  static HandOverDelays from_environment(std::uint32_t actor);

  /// Sleeps for 0 to 0.1 ms, and once in 64 times for up to 10 ms: longer than a whole exchange.
  void before(HandOver moment);

 private:
  std::optional<std::uint64_t> state_;
};

}  // namespace tidemark
