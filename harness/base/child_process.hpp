// Child processes that have nothing of this one but what they are given, and their pipes.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tidemark {

/// An open file descriptor that is closed at the end of its scope.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor();

  int get() const { return fd_; }
  void close();

 private:
  int fd_ = -1;
};

struct Pipe {
  FileDescriptor read, write;
};

/// A pipe with both ends close-on-exec. Throws Error.
Pipe make_pipe();
void set_non_blocking(int fd);

/// Appends what a non-blocking descriptor has; closes it at its end.
void drain(FileDescriptor& fd, std::string& text);

/// What a child has of its parent, and what its parent's end is to it.
enum class Bond {
  dies_with_parent,   // own process group; SIGKILL as soon as the parent ends
  outlives_parent,    // own session
  stops_with_parent,  // own process group; SIGTERM as soon as the parent ends
};

/// Of the first two bonds, children are programs of ours: their environment is this one without the
/// variables of the MPI launcher (they must not join the job by accident), and they ignore SIGINT,
/// SIGTERM and SIGHUP, so that only SIGKILL ends them early. The third leaves both as they are.
struct ChildOrder {
  std::string program;                                             // a path, or a name on PATH
  std::vector<std::string> arguments;                              // argv, [0] included
  std::vector<std::pair<std::string, std::string>> settings = {};  // environment variables added
  std::vector<int> fds =
      {};  // become 0, 1, 2, ... of the child; all others are closed; -1: /dev/null
  Bond bond = Bond::dies_with_parent;
  /// Of a program that cannot be executed: its exit status, and what surrounds the reason on its
  /// descriptor 2; in front of it stands the program where that is empty.
  int failure_status = 127;
  std::string failure_head = {}, failure_tail = "\n";
};

/// How a process ended.
struct ProcessEnd {
  int signal = 0;          // 0: it left by itself
  int exit_code = 0;       // when it left by itself; -1 when another part of this process reaped it
  bool unstarted = false;  // there was none

  /// By a signal that no mistake of its own raises: the OOM killer's or an operator's SIGKILL, ...
  bool killed_from_outside() const;
  int status() const { return signal != 0 ? 128 + signal : exit_code; }
};

/// A process that this one started. The end of the scope leaves it alone, and nothing here waits
/// without a bound: a process that is stuck in the driver ends when the driver lets it.
class ChildProcess {
 public:
  ChildProcess() = default;  // none, which counts as ended
  /// Fork and exec. Throws Error when fork fails for 3 s.
  explicit ChildProcess(const ChildOrder& order);
  ChildProcess(ChildProcess&&) = default;
  ChildProcess& operator=(ChildProcess&&) = default;
  ~ChildProcess() = default;

  pid_t pid() const { return pid_; }
  /// Set once the process has been reaped. What one that dies with its parent has left in its group
  /// is killed then.
  const std::optional<ProcessEnd>& ended();
  /// The same; reaps what this process has adopted, too. For a process without other children.
  const std::optional<ProcessEnd>& ended_among_adopted();
  bool ended_within(double seconds);
  /// To the process, or to its group; to none once it has been reaped.
  void signal(int number) const;
  void signal_group(int number) const;
  /// SIGKILL for the group; false where the process has not ended after that many seconds.
  bool kill_within(double seconds);

 private:
  void reaped(int status);

  pid_t pid_ = -1;
  Bond bond_ = Bond::dies_with_parent;
  std::optional<ProcessEnd> ended_ = ProcessEnd{.unstarted = true};
};

// A program that must answer soon, and what it says.

/// What a child said before it ended or was ended.
struct ChildAnswer {
  bool started = false;            // fork and exec went well
  bool timed_out = false;          // it was killed because `seconds` were over
  int status = -1;                 // exit status; 128 + n when signal n ended it; -1 when not known
  std::string out = {}, err = {};  // at most 16 MiB each
};

struct ChildSurroundings {
  std::vector<std::pair<std::string, std::string>> settings = {};  // ChildOrder::settings
  std::string out = {};  // a file for its stdout; empty: ChildAnswer::out
};

/// Runs argv[0] (a path) with stdin from /dev/null, and kills its process group after `seconds`.
/// Returns within two seconds of that even where the child cannot be killed (a driver call that
/// never returns): such a child is left behind.
ChildAnswer run_bounded(const std::vector<std::string>& argv, double seconds,
                        const ChildSurroundings& surroundings = {});

/// The same for a question, which changes nothing: once more where the child was killed from
/// outside, as the OOM killer does.
ChildAnswer ask_bounded(const std::vector<std::string>& argv, double seconds);

}  // namespace tidemark
