// Lets a test run the built program (or mpirun with it) and look at what came of it.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "harness/base/child_process.hpp"

namespace tidemark {

/// Variables set for the child beside those of this process.
using Environment = std::vector<std::pair<std::string, std::string>>;

struct Ran {
  int exit = -1;         // exit status; 128 + n when signal n ended it; -1 when time ran out
  std::string out, err;  // all that it wrote
};

/// A program that was started and leads a process group of its own. Output goes to memory files:
/// no pipe can fill up, and a grandchild that keeps its end open holds nobody.
struct RunningProgram {
  mutable ChildProcess child;
  FileDescriptor out, err;
  pid_t pid = -1;
};

inline RunningProgram start_program(const std::vector<std::string>& arguments,
                                    const Environment& environment = {}) {
  RunningProgram running{.child = {},
                         .out = FileDescriptor(memfd_create("out", MFD_CLOEXEC)),
                         .err = FileDescriptor(memfd_create("err", MFD_CLOEXEC))};
  running.child = ChildProcess({.program = arguments.at(0),
                                .arguments = arguments,
                                .settings = environment,
                                .fds = {-1, running.out.get(), running.err.get()},
                                .bond = Bond::stops_with_parent});
  running.pid = running.child.pid();
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
  const bool in_time = running.child.ended_within(timeout_s);
  if (!in_time) running.child.kill_within(kHangS);
  return {.exit = in_time ? running.child.ended()->status() : -1,
          .out = text_of(running.out.get()),
          .err = text_of(running.err.get())};
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

}  // namespace tidemark
