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

#include "harness/base/clock.hpp"
#include "kernels/error.hpp"

namespace tidemark {
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

std::vector<std::string> child_environment(const ChildOrder& order) {
  std::vector<std::string> variables;
  for (const auto& [name, value] : order.settings) variables.push_back(setting(name, value));
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    bool replaced = order.bond != Bond::stops_with_parent && belongs_to_launcher(text);
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

[[noreturn]] void leave_child(const ChildOrder& order, const char* what, const char* tail) {
  // Not strerror: it may allocate, and another thread may have held that lock at the fork.
  const char* why = ::strerrordesc_np(errno);
  for (const char* text : {what, why, tail}) {
    if (::write(STDERR_FILENO, text, std::strlen(text)) < 0) break;
  }
  ::_exit(order.failure_status);
}

/// Puts fds[i] at i. All are first moved above the targets, since a source may be a target, too.
void place_descriptors(const ChildOrder& order, int* fds, int count) {
  for (int i = 0; i < count; ++i) {
    if (fds[i] < 0) fds[i] = ::open("/dev/null", O_RDWR);
    fds[i] = ::fcntl(fds[i], F_DUPFD, count);
    if (fds[i] < 0) leave_child(order, "tidemark: cannot pass a file descriptor: ", "\n");
  }
  for (int i = 0; i < count; ++i) {
    if (::dup2(fds[i], i) < 0)
      leave_child(order, "tidemark: cannot pass a file descriptor: ", "\n");
  }
}

void close_above(int last, int limit) {
  // close_range is a plain system call from Linux 5.9 on; older kernels get the loop.
  if (::syscall(SYS_close_range, last + 1, ~0U, 0) == 0) return;
  for (int fd = last + 1; fd < limit; ++fd) ::close(fd);
}

void bind_to_parent(Bond bond, pid_t parent) {
  if (bond != Bond::stops_with_parent) {
    // What tells a launch to stop (scancel, a shutdown, a closed terminal) reaches all its
    // processes, and only the supervisor may heed it: a worker that died of it would look like a
    // crashed GPU.
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::signal(number, SIG_IGN);
    ::signal(SIGPIPE, SIG_DFL);
  }
  if (bond == Bond::outlives_parent) {
    ::setsid();
    return;
  }
  // A group of its own: Ctrl-C on the terminal reaches only the parent, and one kill reaches
  // whatever the child has started.
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, bond == Bond::dies_with_parent ? SIGKILL : SIGTERM);
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

bool ProcessEnd::killed_from_outside() const {
  constexpr std::array kOwn = {0, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
  return std::find(kOwn.begin(), kOwn.end(), signal) == kOwn.end();
}

ChildProcess::ChildProcess(const ChildOrder& order) : bond_(order.bond), ended_(std::nullopt) {
  std::vector<std::string> arguments = order.arguments;
  std::vector<std::string> environment = child_environment(order);
  const std::vector<char*> argv = pointers(arguments);
  const std::vector<char*> envp = pointers(environment);
  std::vector<int> fds = order.fds;
  const std::string head = order.failure_head.empty() ? order.program + ": " : order.failure_head;
  rlimit files{};
  const int limit = ::getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < 65536
                        ? static_cast<int>(files.rlim_cur)
                        : 65536;
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  // There may be too many processes, or too little memory, for a moment.
  for (int i = 0; i < 300 && pid_ < 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    pid_ = ::fork();
  }
  if (pid_ < 0) throw Error(std::string("cannot start a process: ") + std::strerror(errno));
  if (pid_ > 0) {
    // Both sides set the group: whoever comes first, a kill of the group finds it.
    if (bond_ != Bond::outlives_parent) ::setpgid(pid_, pid_);
    return;
  }
  bind_to_parent(bond_, parent);
  place_descriptors(order, fds.data(), static_cast<int>(fds.size()));
  close_above(static_cast<int>(fds.size()) - 1, limit);
  // Blocked signals survive exec, and the supervisor blocks what it reads as a file.
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execvpe(order.program.c_str(), argv.data(), envp.data());
  leave_child(order, head.c_str(), order.failure_tail.c_str());
}

void ChildProcess::reaped(int status) {
  ended_ = ProcessEnd{.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
                      .exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0};
  if (bond_ == Bond::dies_with_parent) ::kill(-pid_, SIGKILL);
}

const std::optional<ProcessEnd>& ChildProcess::ended() {
  if (ended_) return ended_;
  int status = 0;
  const pid_t got = ::waitpid(pid_, &status, WNOHANG);
  if (got == pid_) reaped(status);
  if (got < 0 && errno == ECHILD) ended_ = ProcessEnd{.exit_code = -1};
  return ended_;
}

const std::optional<ProcessEnd>& ChildProcess::ended_among_adopted() {
  int status = 0;
  for (pid_t got = 0; (got = ::waitpid(-1, &status, WNOHANG)) > 0;)
    if (got == pid_) reaped(status);
  return ended_;
}

bool ChildProcess::ended_within(double seconds) {
  const double until = monotonic_s() + seconds;
  while (!ended() && monotonic_s() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  return ended_.has_value();
}

void ChildProcess::signal(int number) const {
  if (!ended_) ::kill(pid_, number);
}

void ChildProcess::signal_group(int number) const {
  if (!ended_) ::kill(-pid_, number);
}

bool ChildProcess::kill_within(double seconds) {
  signal_group(SIGKILL);
  return ended_within(seconds);
}

namespace {

constexpr std::size_t kMostText = std::size_t{16} << 20;
constexpr double kKillSeconds = 2;

// One read into `text`; false when the pipe is at its end.
bool take(int fd, std::string& text) {
  std::array<char, 4096> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): read fills it
  const ssize_t got = read(fd, buffer.data(), buffer.size());
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  text.append(buffer.data(), std::min(static_cast<std::size_t>(got), kMostText - text.size()));
  return got > 0;
}

// Reads both pipes to their ends; false when time ran out first.
bool read_all(FileDescriptor out, FileDescriptor err, double until, ChildAnswer& answer) {
  while (out.get() >= 0 || err.get() >= 0) {
    const double left = until - monotonic_s();
    if (left <= 0) return false;
    std::array<pollfd, 2> fds = {pollfd{.fd = out.get(), .events = POLLIN, .revents = 0},
                                 pollfd{.fd = err.get(), .events = POLLIN, .revents = 0}};
    if (poll(fds.data(), fds.size(), static_cast<int>(std::min(1e3 * left + 1, 1e3))) <= 0)
      continue;
    if (fds[0].revents != 0 && !take(out.get(), answer.out)) out.close();
    if (fds[1].revents != 0 && !take(err.get(), answer.err)) err.close();
  }
  return true;
}

}  // namespace

ChildAnswer run_bounded(const std::vector<std::string>& argv, double seconds,
                        const ChildSurroundings& surroundings) {
  ChildAnswer answer;
  const double until = monotonic_s() + seconds;
  ChildProcess child;
  Pipe out;
  Pipe err;
  try {
    out = make_pipe();
    err = make_pipe();
    if (!surroundings.out.empty())
      out.write = FileDescriptor(open(surroundings.out.c_str(), O_WRONLY | O_CLOEXEC));
    child = ChildProcess({.program = argv.at(0),
                          .arguments = argv,
                          .settings = surroundings.settings,
                          .fds = {-1, out.write.get(), err.write.get()}});
  } catch (const Error&) {
    return answer;
  }
  out.write.close();
  err.write.close();
  const bool said_all = read_all(std::move(out.read), std::move(err.read), until, answer);
  answer.timed_out = !said_all || !child.ended_within(until - monotonic_s());
  if (answer.timed_out) child.kill_within(kKillSeconds);
  if (child.ended()) answer.status = child.ended()->status();
  answer.started = answer.status != 127;
  return answer;
}

ChildAnswer ask_bounded(const std::vector<std::string>& argv, double seconds) {
  const ChildAnswer answer = run_bounded(argv, seconds);
  const bool killed = answer.status == 128 + SIGKILL && !answer.timed_out;
  return killed ? run_bounded(argv, seconds) : answer;
}

}  // namespace tidemark
