// fork, exec, poll, kill.
#include "harness/discovery/bounded_child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

namespace tidemark {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostText = std::size_t{16} << 20;
constexpr std::chrono::seconds kKillPatience{2};

class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }
  void reset() { *this = Fd(); }

 private:
  void swap(Fd& other) { std::swap(fd_, other.fd_); }
  int fd_;
};

struct Pipe {
  Fd read, write;
};

Pipe make_pipe() {
  std::array<int, 2> ends = {-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return Pipe();
  return {.read = Fd(ends[0]), .write = Fd(ends[1])};
}

// Only async-signal-safe calls: the parent may have had threads.
[[noreturn]] void become(char* const* argv, int out, int err, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(126);  // the parent died before prctl could tell us
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(nothing, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  execv(argv[0], argv);
  _exit(127);
}

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
bool read_all(Fd out, Fd err, Clock::time_point until, ChildAnswer& answer) {
  while (out.get() >= 0 || err.get() >= 0) {
    if (Clock::now() >= until) return false;
    std::array<pollfd, 2> fds = {pollfd{.fd = out.get(), .events = POLLIN, .revents = 0},
                                 pollfd{.fd = err.get(), .events = POLLIN, .revents = 0}};
    if (poll(fds.data(), fds.size(), poll_ms(until)) <= 0) continue;
    if (fds[0].revents != 0 && !take(out.get(), answer.out)) out.reset();
    if (fds[1].revents != 0 && !take(err.get(), answer.err)) err.reset();
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

ChildAnswer run_bounded(const std::vector<std::string>& argv, double seconds) {
  ChildAnswer answer;
  const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(seconds));
  std::vector<char*> words;
  words.reserve(argv.size() + 1);
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  Pipe out = make_pipe();
  Pipe err = make_pipe();
  if (out.read.get() < 0 || err.read.get() < 0) return answer;
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return answer;
  if (pid == 0) become(words.data(), out.write.get(), err.write.get(), parent);
  setpgid(pid, pid);  // here too, so that a kill right now finds the group
  out.write.reset();
  err.write.reset();
  const bool said_all = read_all(std::move(out.read), std::move(err.read), until, answer);
  if (!said_all || !reaped(pid, until, answer)) {
    answer.timed_out = true;
    kill(-pid, SIGKILL);
    reaped(pid, Clock::now() + kKillPatience, answer);
  }
  answer.started = answer.status != 127;
  return answer;
}

}  // namespace tidemark
