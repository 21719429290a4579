// Lets a test run the built program (or mpirun with it) and look at what came of it.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace tidemark::harness {

/// Variables set for the child beside those of this process.
using Environment = std::vector<std::pair<std::string, std::string>>;

struct Ran {
  int exit = -1;         // exit status; 128 + n when signal n ended it; -1 when time ran out
  std::string out, err;  // all that it wrote
};

/// A program that was started and leads a process group of its own. Output goes to memory files:
/// no pipe can fill up, and a grandchild that keeps its end open holds nobody.
struct RunningProgram {
  pid_t pid = -1;
  int out = -1, err = -1;
};

inline RunningProgram start_program(const std::vector<std::string>& arguments,
                                    const Environment& environment = {}) {
  RunningProgram running{
      .pid = -1, .out = memfd_create("out", MFD_CLOEXEC), .err = memfd_create("err", MFD_CLOEXEC)};
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  running.pid = fork();
  if (running.pid < 0) throw std::runtime_error("fork failed");
  if (running.pid == 0) {
    setpgid(0, 0);
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
    dup2(running.out, STDOUT_FILENO);
    dup2(running.err, STDERR_FILENO);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  setpgid(running.pid, running.pid);  // here too: whoever comes first
  return running;
}

inline std::string text_of(int memory_file) {
  std::string text;
  char buffer[4096];
  off_t at = 0;
  for (ssize_t got = 0; (got = pread(memory_file, buffer, sizeof buffer, at)) > 0; at += got) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  return text;
}

/// A test whose program does not end fails after this, before CTest kills it at 600 s and its
/// output is lost. It is no bound on how fast a program is: machines under load take ten times as
/// long.
constexpr double kHangS = 500;

/// Waits for a program started by start_program; kills its group when `timeout_s` is over.
inline Ran finish_program(const RunningProgram& running, double timeout_s = kHangS) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(timeout_s);
  int status = 0;
  bool late = false;
  while (waitpid(running.pid, &status, WNOHANG) == 0) {
    if (!late && Clock::now() > end) {
      late = true;
      kill(-running.pid, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  Ran ran{.exit = -1, .out = text_of(running.out), .err = text_of(running.err)};
  if (!late) ran.exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  close(running.out);
  close(running.err);
  return ran;
}

/// Runs any program found on PATH: run_program({"mpirun", "-q", "-n", "2", ...}).
inline Ran run_program(const std::vector<std::string>& arguments,
                       const Environment& environment = {}, double timeout_s = kHangS) {
  return finish_program(start_program(arguments, environment), timeout_s);
}

#ifdef TIDEMARK_BINARY
/// Runs the built tidemark with these arguments.
inline Ran run_binary(const std::vector<std::string>& arguments,
                      const Environment& environment = {}, double timeout_s = kHangS) {
  std::vector<std::string> all = {TIDEMARK_BINARY};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return run_program(all, environment, timeout_s);
}
#endif

}  // namespace tidemark::harness
