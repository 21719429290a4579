#include "harness/command_line/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <thread>

#include "harness/supervisor/clock.hpp"
#include "harness/supervisor/spawn.hpp"

namespace tidemark::harness {

namespace {

/// Of a terminal one that never waits: it says that it takes bytes when it takes one. A pipe that
/// does so takes PIPE_BUF, and of a file a second descriptor would begin in front.
FileDescriptor impatient(int descriptor) {
  if (::isatty(descriptor) != 1) return FileDescriptor();
  const std::string path = fmt::format("/proc/self/fd/{}", descriptor);
  return FileDescriptor(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

}  // namespace

Written write_within(int given, std::string_view bytes, double most_s) {
  const double until = monotonic_s() + most_s;
  const FileDescriptor own = impatient(given);
  const int descriptor = own.get() >= 0 ? own.get() : given;
  Written made;
  while (made.bytes < bytes.size()) {
    const double left = std::max(0.0, until - monotonic_s());
    pollfd ready{.fd = descriptor, .events = POLLOUT, .revents = 0};
    const int found = ::poll(&ready, 1, static_cast<int>(std::ceil(left * 1e3)));
    if (found < 0 && errno == EINTR) continue;
    if (found == 0) return made;
    const std::string_view next = bytes.substr(made.bytes, PIPE_BUF);
    const ssize_t written = ::write(descriptor, next.data(), next.size());
    if (written < 0 && (errno == EINTR || errno == EAGAIN)) {
      if (left == 0) return made;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      continue;
    }
    if (written < 0) {
      made.error = errno;
      return made;
    }
    made.bytes += static_cast<std::size_t>(written);
  }
  return made;
}

void write_error(std::string_view text) {
  constexpr double kMostSeconds = 10;
  write_within(STDERR_FILENO, text, kMostSeconds);
}

void Output::put(std::string_view text) {
  kept_ += text;
  flush(0);
}

bool Output::flush(double most_s) {
  if (kept_.empty()) return true;
  const Written written = write_within(descriptor_, kept_, most_s);
  kept_.erase(0, written.bytes);
  if (written.error != 0) {
    // EBADF: the user closed stdout and wants no lines.
    lost_ = lost_ || written.error != EBADF;
    kept_.clear();
  }
  return kept_.empty();
}

void Output::finish(const std::function<bool()>& go_on) {
  constexpr double kEvery = 0.1;  // seconds
  while (!flush(kEvery)) {
    if (go_on()) continue;
    lost_ = true;
    kept_.clear();
  }
}

}  // namespace tidemark::harness
