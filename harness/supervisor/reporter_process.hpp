// Rank 0's handle on the process that writes the report when rank 0 is gone without one.
#pragma once

#include <optional>
#include <string>

#include "harness/base/child_process.hpp"

namespace tidemark {

/// What the reporter needs to know.
struct ReporterTask {
  std::string folder, out;  // journals; report
  bool anonymize = false;
};

/// The lines on the reporter's pipe, newline included.
std::string task_line(const ReporterTask& task);
/// The task in a line; nothing when it holds none.
std::optional<ReporterTask> task_in(const std::string& line);
inline constexpr const char* kReporterDone = "done\n";
inline constexpr int kReporterFd = 3;

/// Owns the pipe. The reporter lives in its own session, so that what kills rank 0 spares it.
class ReporterProcess {
 public:
  /// Throws Error.
  explicit ReporterProcess(const std::string& program = "/proc/self/exe");
  ReporterProcess(const ReporterProcess&) = delete;
  ReporterProcess& operator=(const ReporterProcess&) = delete;
  ~ReporterProcess();

  /// From now on the reporter makes the report if this process ends without done().
  void tell(const ReporterTask& task);
  /// There is nothing left for it to do.
  void done();

 private:
  void say(const std::string& line);

  FileDescriptor pipe_;
  ChildProcess child_;
  bool done_ = false;
};

/// The reporter side: waits for rank 0 to say that the report is there, or to be gone without one.
int reporter_main();

}  // namespace tidemark
