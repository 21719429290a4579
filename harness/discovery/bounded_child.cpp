// Start, poll, kill.
#include "harness/discovery/bounded_child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "harness/base/spawn.hpp"
#include "harness/room.hpp"
#include "kernels/error.hpp"

namespace tidemark::harness {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostText = std::size_t{16} << 20;
constexpr std::chrono::seconds kKillPatience{2};

// One read into `text`; false when the pipe is at its end.
bool take(int fd, std::string& text) {
  std::array<char, 4096> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): read fills it
  const ssize_t got = read(fd, buffer.data(), buffer.size());
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  text.append(buffer.data(), std::min(static_cast<std::size_t>(got), kMostText - text.size()));
  return got > 0;
}

int poll_ms(Clock::time_point until) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count() + 1, 0, 1000));
}

// Reads both pipes to their ends; false when time ran out first.
bool read_all(FileDescriptor out, FileDescriptor err, Clock::time_point until,
              ChildAnswer& answer) {
  while (out.get() >= 0 || err.get() >= 0) {
    if (Clock::now() >= until) return false;
    std::array<pollfd, 2> fds = {pollfd{.fd = out.get(), .events = POLLIN, .revents = 0},
                                 pollfd{.fd = err.get(), .events = POLLIN, .revents = 0}};
    if (poll(fds.data(), fds.size(), poll_ms(until)) <= 0) continue;
    if (fds[0].revents != 0 && !take(out.get(), answer.out)) out.close();
    if (fds[1].revents != 0 && !take(err.get(), answer.err)) err.close();
  }
  return true;
}

bool reaped(pid_t pid, Clock::time_point until, ChildAnswer& answer) {
  int status = 0;
  for (;;) {
    const pid_t got = waitpid(pid, &status, WNOHANG);
    if (got == pid) {
      answer.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      return true;
    }
    if (got < 0 && errno != EINTR) return true;  // somebody else reaped it
    if (Clock::now() >= until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

}  // namespace

ChildAnswer run_bounded(const std::vector<std::string>& argv, double seconds,
                        const ChildSurroundings& surroundings) {
  ChildAnswer answer;
  const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(seconds));
  pid_t pid = -1;
  Pipe out;
  Pipe err;
  try {
    out = make_pipe();
    err = make_pipe();
    if (!surroundings.out.empty())
      out.write = FileDescriptor(open(surroundings.out.c_str(), O_WRONLY | O_CLOEXEC));
    pid = spawn({.program = argv.at(0),
                 .arguments = argv,
                 .settings = surroundings.settings,
                 .fds = {-1, out.write.get(), err.write.get()},
                 .bond = Bond::dies_with_parent});
  } catch (const Error&) {
    return answer;
  }
  out.write.close();
  err.write.close();
  const bool said_all = read_all(std::move(out.read), std::move(err.read), until, answer);
  if (!said_all || !reaped(pid, until, answer)) {
    answer.timed_out = true;
    kill(-pid, SIGKILL);
    reaped(pid, Clock::now() + kKillPatience, answer);
  }
  answer.started = answer.status != 127;
  return answer;
}

ChildAnswer ask_bounded(const std::vector<std::string>& argv, double seconds) {
  const ChildAnswer answer = run_bounded(argv, seconds);
  const bool killed = answer.status == 128 + SIGKILL && !answer.timed_out;
  return killed ? run_bounded(argv, seconds) : answer;
}

}  // namespace tidemark::harness
