// One worker process and the two pipes to it.
#pragma once

#include <sys/types.h>

#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "harness/base/child_process.hpp"
#include "harness/worker/messages.hpp"

namespace tidemark {

struct WorkerStart {
  std::string program = "/proc/self/exe";
  std::string visible_gpu = {};  // UUID for CUDA_VISIBLE_DEVICES; empty on the virtual device
  bool jit = false;              // the driver compiles the kernels
  int segment_fd = -1;           // relay segment, -1: none
  int program_fd = -1;           // of a ProgramOrder, -1: none
};

/// Owns a worker. Nothing here blocks but the destructor, and that for two seconds at most.
class WorkerProcess {
 public:
  /// Throws Error when no process can be started.
  explicit WorkerProcess(const WorkerStart& start);
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  ~WorkerProcess();

  /// An order to a worker that is gone is lost without a word: its end is seen by ended().
  void send(const Order& order);

  /// Reads what has come; the messages are then in take(). A line that is no message counts as
  /// broken() from then on.
  void pump();
  std::optional<Said> take();
  bool broken() const { return broken_; }

  /// Set once the process has been reaped, and what it wrote before that was read.
  const std::optional<ProcessEnd>& ended();

  /// Sends a signal to the whole process group.
  void signal_group(int number) const { child_.signal_group(number); }

  /// "died by signal 11 (Segmentation fault) WHERE; its last words: ...", once it has ended.
  std::string end_text(std::string_view where = {});

  /// The last lines on its standard error, printable, at most 300 characters.
  std::string last_words() const;

  /// To wait on with poll(2).
  int records_fd() const { return records_.get(); }
  int errors_fd() const { return errors_.get(); }
  pid_t pid() const { return child_.pid(); }

 private:
  void read_records();
  void read_errors();

  ChildProcess child_;
  FileDescriptor orders_, records_, errors_;
  std::string partial_;
  std::string errors_tail_;
  std::deque<Said> said_;
  bool broken_ = false;
  std::optional<std::uint64_t> oom_kills_;  // of the cgroup, when it was started
};

}  // namespace tidemark
