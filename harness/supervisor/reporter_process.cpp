// Both ends of the reporter: who starts it, and the process itself.
#include "harness/supervisor/reporter_process.hpp"

#include <signal.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "harness/launch.hpp"
#include "reports/base/disk.hpp"
#include "reports/journal/journal.hpp"
#include "reports/store/replace_file.hpp"
#include "reports/store/report.hpp"

namespace tidemark {

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

// The reporter: waits for rank 0 to end. If that was without a report, it makes one of the journals
// and marks it incomplete, so that even a killed launch leaves what it knew.

namespace {

constexpr unsigned kMostSeconds = 30;  // without a step, until this process is gone, too
constexpr unsigned kSettledSeconds = 3;

/// Makes the report, if there is none. Throws where it cannot.
void make_report(const ReporterTask& task) {
  // Rank 0 may have been killed between the report and its "done".
  if (is_there(task.out)) return;
  const Journals journals = read_journals(task.folder);
  // Those of ten thousand ranks take longer than that, all together.
  const auto read = [&journals](std::size_t i) {
    ::alarm(kMostSeconds);
    return journals.at(i);
  };
  const Report report = assemble(
      {journals.size(), read}, {.anonymize = task.anonymize,
                                .incomplete_reason = "rank 0 was gone before it wrote the report"});
  ::alarm(kMostSeconds);
  write_report(report, task.out);  // the journals stay for --resume
}

}  // namespace

int reporter_main() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::signal(number, SIG_IGN);
  FileDescriptor pipe(kReporterFd);
  std::string heard;
  drain(pipe, heard);     // until rank 0 has closed it
  ::alarm(kMostSeconds);  // a dead file system is not waited for
  // Of several launches each says its task and that it is done; the last one counts.
  const std::size_t before = heard.empty() ? 0 : heard.rfind('\n', heard.size() - 2);
  const std::optional<ReporterTask> task =
      task_in(heard.substr(before == std::string::npos ? 0 : before + 1));
  if (!task) return 0;
  // mpirun gives the other ranks SIGTERM one second after rank 0 ended, and they still write.
  ::sleep(kSettledSeconds);
  // Rank 0 may have been killed while it wrote: what it left under its temporary name is nothing.
  remove_left_behind(task->out);
  for (int tries = kDiskTries; tries > 0; --tries) {
    try {
      make_report(*task);
      return 0;
    } catch (const std::exception&) {
      ::sleep(1);  // nobody listens; the journals stay for `tidemark recover`
    }
  }
  return 1;
}

}  // namespace tidemark
