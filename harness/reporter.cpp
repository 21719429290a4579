// The reporter: waits for rank 0 to end. If that was without a report, it makes one of the journals
// and marks it incomplete, so that even a killed launch leaves what it knew.
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "harness/launch.hpp"
#include "harness/supervisor/reporter_process.hpp"
#include "reports/base/disk.hpp"
#include "reports/journal/journal.hpp"
#include "reports/store/replace_file.hpp"
#include "reports/store/report.hpp"

namespace tidemark::harness {
namespace {

constexpr unsigned kMostSeconds = 30;  // without a step, until this process is gone, too
constexpr unsigned kSettledSeconds = 3;

/// Everything on the pipe until rank 0 has closed it.
std::string read_to_end(int fd) {
  std::string text;
  std::array<char, 4096> bytes{};
  while (true) {
    const ssize_t got = ::read(fd, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(bytes.data(), static_cast<std::size_t>(got));
  }
}

/// Makes the report, if there is none. Throws where it cannot.
void make_report(const ReporterTask& task) {
  // Rank 0 may have been killed between the report and its "done".
  if (reports::is_there(task.out)) return;
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

int reporter_main(int /*argc*/, char** /*argv*/) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::signal(number, SIG_IGN);
  const std::string heard = read_to_end(kReporterFd);
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
  for (int tries = reports::kDiskTries; tries > 0; --tries) {
    try {
      make_report(*task);
      return 0;
    } catch (const std::exception&) {
      ::sleep(1);  // nobody listens; the journals stay for `tidemark recover`
    }
  }
  return 1;
}

}  // namespace tidemark::harness
