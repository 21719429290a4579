// Starts the reporter and talks to it.
#include "harness/supervisor/reporter_process.hpp"

#include <signal.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

namespace tidemark::harness {

std::string task_line(const ReporterTask& task) {
  const nlohmann::json json = {
      {"folder", task.folder}, {"out", task.out}, {"anonymize", task.anonymize}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::optional<ReporterTask> task_in(const std::string& line) {
  const auto json = nlohmann::json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("folder") || !json.contains("out")) return std::nullopt;
  return ReporterTask{.folder = json.value("folder", ""),
                      .out = json.value("out", ""),
                      .anonymize = json.value("anonymize", false)};
}

ReporterProcess::ReporterProcess(const std::string& program) {
  Pipe pipe = make_pipe();
  // Nothing of the launcher's may stay open in it: mpirun would wait for the end of our output.
  child_ = ChildProcess({.program = program,
                         .arguments = {"tidemark", "__reporter"},
                         .fds = {-1, -1, -1, pipe.read.get()},
                         .bond = Bond::outlives_parent});
  pipe_ = std::move(pipe.write);
}

ReporterProcess::~ReporterProcess() {
  pipe_.close();
  // It may be stopped, and nobody else would end it.
  if (!child_.ended_within(0.1) && done_) child_.signal(SIGKILL);
}

void ReporterProcess::tell(const ReporterTask& task) {
  say(task_line(task));
  done_ = false;
}

void ReporterProcess::done() {
  say(kReporterDone);
  done_ = true;
}

void ReporterProcess::say(const std::string& line) {
  // A reporter that was killed cannot help any more, and the launch goes on without it.
  if (::write(pipe_.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    pipe_.close();
  }
}

}  // namespace tidemark::harness
