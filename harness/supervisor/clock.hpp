// The two clocks: one for deadlines, one for records.
#pragma once

#include <chrono>

namespace tidemark::harness {

/// Seconds on a clock that never jumps; only differences mean something.
inline double monotonic_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Wall clock, seconds since 1970.
inline double unix_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace tidemark::harness
