// Child processes that have nothing of this one but what they are given, and their pipes.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace tidemark::harness {

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

/// The last seconds of a child when its parent is gone. SIGINT, SIGTERM and SIGHUP are ignored
/// either way: only SIGKILL ends a child early.
enum class Bond {
  dies_with_parent,  // own process group; SIGKILL as soon as the parent ends
  outlives_parent,   // own session
};

struct SpawnOrder {
  std::string program;
  std::vector<std::string> arguments;                              // argv, [0] included
  std::vector<std::pair<std::string, std::string>> settings = {};  // environment variables added
  std::vector<int> fds =
      {};  // become 0, 1, 2, ... of the child; all others are closed; -1: /dev/null
  Bond bond = Bond::dies_with_parent;
};

/// Fork and exec. The child's environment is this one without the variables of the MPI launcher
/// (it must not join the job by accident) and with `settings`. A program that cannot be executed
/// ends with status 127 and says why on its descriptor 2. Throws Error when fork fails for 3 s.
pid_t spawn(const SpawnOrder& order);

// A program that must answer soon, and what it says.

/// What a child said before it ended or was ended.
struct ChildAnswer {
  bool started = false;            // fork and exec went well
  bool timed_out = false;          // it was killed because `seconds` were over
  int status = -1;                 // exit status; 128 + n when signal n ended it; -1 when not known
  std::string out = {}, err = {};  // at most 16 MiB each
};

struct ChildSurroundings {
  std::vector<std::pair<std::string, std::string>> settings = {};  // SpawnOrder::settings
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

}  // namespace tidemark::harness
