// Fork and exec by hand: between the two only calls that are safe after fork in a process that has
// threads (MPI) may be made, so everything is prepared before.
#include "harness/base/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>

#include "harness/room.hpp"
#include "kernels/error.hpp"

namespace tidemark::harness {
namespace {

constexpr std::array<std::string_view, 6> kLauncherPrefixes = {"OMPI_", "PMIX_", "PRTE_",
                                                               "ORTE_", "PMI_",  "HYDRA_"};

bool belongs_to_launcher(std::string_view variable) {
  for (const std::string_view prefix : kLauncherPrefixes) {
    if (variable.starts_with(prefix)) return true;
  }
  return false;
}

std::string setting(const std::string& name, const std::string& value) {
  std::string text = name;
  return text.append("=").append(value);
}

std::vector<std::string> child_environment(const SpawnOrder& order) {
  std::vector<std::string> variables;
  for (const auto& [name, value] : order.settings) variables.push_back(setting(name, value));
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    bool replaced = belongs_to_launcher(text);
    for (const auto& [name, value] : order.settings) {
      replaced = replaced || text.starts_with(name + "=");
    }
    if (!replaced) variables.emplace_back(text);
  }
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  all.reserve(texts.size() + 1);
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

[[noreturn]] void leave_child(const char* what) {
  // Not strerror: it may allocate, and another thread may have held that lock at the fork.
  const char* why = ::strerrordesc_np(errno);
  for (const char* text : {what, ": ", why, "\n"}) {
    if (::write(STDERR_FILENO, text, std::strlen(text)) < 0) break;
  }
  ::_exit(127);
}

/// Puts fds[i] at i. All are first moved above the targets, since a source may be a target, too.
void place_descriptors(int* fds, int count) {
  for (int i = 0; i < count; ++i) {
    if (fds[i] < 0) fds[i] = ::open("/dev/null", O_RDWR);
    fds[i] = ::fcntl(fds[i], F_DUPFD, count);
    if (fds[i] < 0) leave_child("cannot pass a file descriptor");
  }
  for (int i = 0; i < count; ++i) {
    if (::dup2(fds[i], i) < 0) leave_child("cannot pass a file descriptor");
  }
}

void close_above(int last, int limit) {
  // close_range is a plain system call from Linux 5.9 on; older kernels get the loop.
  if (::syscall(SYS_close_range, last + 1, ~0U, 0) == 0) return;
  for (int fd = last + 1; fd < limit; ++fd) ::close(fd);
}

void bind_to_parent(Bond bond, pid_t parent) {
  // What tells a launch to stop (scancel, a shutdown, a closed terminal) reaches all its processes,
  // and only the supervisor may heed it: a worker that died of it would look like a crashed GPU.
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::signal(number, SIG_IGN);
  if (bond == Bond::outlives_parent) {
    ::setsid();
    return;
  }
  // A group of its own: Ctrl-C on the terminal reaches only the supervisor, and one kill reaches
  // whatever the worker has started.
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have ended before the line above: then nobody would ever end this process.
  if (::getppid() != parent) ::_exit(127);
}

}  // namespace

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

FileDescriptor::~FileDescriptor() { close(); }

void FileDescriptor::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw Error(std::string("cannot make a pipe: ") + std::strerror(errno));
  }
  return {.read = FileDescriptor(ends[0]), .write = FileDescriptor(ends[1])};
}

void set_non_blocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

void drain(FileDescriptor& fd, std::string& text) {
  std::array<char, 16384> bytes{};
  while (fd.get() >= 0) {
    const ssize_t got = ::read(fd.get(), bytes.data(), bytes.size());
    if (got > 0) {
      text.append(bytes.data(), static_cast<std::size_t>(got));
    } else if (got == 0) {
      fd.close();
    } else if (errno != EINTR) {
      return;  // EAGAIN: nothing more for now
    }
  }
}

pid_t spawn(const SpawnOrder& order) {
  std::vector<std::string> arguments = order.arguments;
  std::vector<std::string> environment = child_environment(order);
  const std::vector<char*> argv = pointers(arguments);
  const std::vector<char*> envp = pointers(environment);
  std::vector<int> fds = order.fds;
  rlimit files{};
  const int limit = ::getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < 65536
                        ? static_cast<int>(files.rlim_cur)
                        : 65536;
  const pid_t parent = ::getpid();
  pid_t child = ::fork();
  // There may be too many processes, or too little memory, for a moment.
  for (int i = 0; i < 300 && child < 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    child = ::fork();
  }
  if (child < 0) throw Error(std::string("cannot start a process: ") + std::strerror(errno));
  if (child > 0) {
    // Both sides set the group: whoever comes first, a kill of the group finds it.
    if (order.bond == Bond::dies_with_parent) ::setpgid(child, child);
    return child;
  }
  bind_to_parent(order.bond, parent);
  place_descriptors(fds.data(), static_cast<int>(fds.size()));
  close_above(static_cast<int>(fds.size()) - 1, limit);
  // Blocked and ignored signals survive exec, and the supervisor blocks what it reads as a file.
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::execve(order.program.c_str(), argv.data(), envp.data());
  leave_child(order.program.c_str());
}

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
