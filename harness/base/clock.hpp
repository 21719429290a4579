// The clocks: for durations, for deadlines of others, for records.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace tidemark {

/// Seconds on a clock that never jumps; only differences mean something.
inline double monotonic_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Counts the time in which whoever looks at it could run. Of a gap between two looks at most a
/// second counts: where a machine was suspended or a process stopped, others were, too, and are not
/// late for it. For loops that look often.
class RunningClock {
 public:
  double at(double now_s) {
    running_s_ += seen_s_ ? std::min(now_s - *seen_s_, 1.0) : 0;
    seen_s_ = now_s;
    return running_s_;
  }

 private:
  std::optional<double> seen_s_;
  double running_s_ = 0;
};

/// Seconds in which this thread could run; only differences mean something.
inline double running_s() {
  thread_local RunningClock clock;
  return clock.at(monotonic_s());
}

/// Wall clock, seconds since 1970.
inline double unix_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace tidemark
