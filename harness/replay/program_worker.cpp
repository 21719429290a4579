// Hands a worker its program, and waits for what it says.
#include "harness/replay/program_worker.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "harness/base/clock.hpp"
#include "kernels/error.hpp"
#include "kernels/ops/program/program_json.hpp"

namespace tidemark {
namespace {

FileDescriptor memory_file_of(std::string_view text) {
  FileDescriptor file(::memfd_create("program", MFD_CLOEXEC));
  while (file.get() >= 0 && !text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) break;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (file.get() < 0 || !text.empty())
    throw Error(fmt::format("cannot hand a program to a worker: {}", std::strerror(errno)));
  return file;
}

double seconds_of(const Program& program) {
  double seconds = 0;
  for (const Step& step : program.steps) seconds += 1e-9 * step.ns;
  return seconds;
}

ProgramEnd ending(WorkerProcess& worker) {
  const ProcessEnd& end = *worker.ended();
  const std::string words = worker.last_words();
  if (end.signal == 0 && !words.empty())
    return {.kind = ProgramEnd::Kind::refused, .reason = words};
  return {.kind = end.killed_from_outside() ? ProgramEnd::Kind::killed
                  : end.signal != 0         ? ProgramEnd::Kind::crashed
                                            : ProgramEnd::Kind::refused,
          .reason = "its process " + worker.end_text()};
}

// Until when the worker may be silent.
class Deadline {
 public:
  Deadline(const Program& program, const ProgramBounds& bounds)
      : run_s_(bounds.run_s + seconds_of(program)) {
    set(bounds.ready_s);
  }
  void begin(double patience_s) { set(patience_s > 0 ? patience_s : run_s_); }
  bool over() const { return monotonic_s() > until_; }
  double seconds() const { return seconds_; }

 private:
  void set(double seconds) {
    seconds_ = seconds;
    until_ = monotonic_s() + seconds;
  }

  double run_s_, seconds_ = 0, until_ = 0;
};

// Worker's message, where it ends the wait.
std::optional<ProgramEnd> answer_in(Said& said) {
  if (auto* ran = std::get_if<SaidProgram>(&said))
    return ProgramEnd{.result = std::move(ran->result)};
  if (auto* trouble = std::get_if<SaidTrouble>(&said))
    return ProgramEnd{.kind = ProgramEnd::Kind::refused, .reason = std::move(trouble->text)};
  return std::nullopt;
}

ProgramEnd run_once(const WorkerStart& start, const SetupOrder& setup, const Program& program,
                    const ProgramBounds& bounds) {
  WorkerProcess worker(start);
  worker.send(setup);
  worker.send(ProgramOrder{});
  Deadline deadline(program, bounds);
  while (true) {
    const bool gone = worker.ended().has_value();
    worker.pump();
    while (std::optional<Said> said = worker.take()) {
      if (const auto* started = std::get_if<SaidStarted>(&*said))
        deadline.begin(started->patience_s);
      if (std::optional<ProgramEnd> answer = answer_in(*said)) return std::move(*answer);
    }
    if (worker.broken())
      return {.kind = ProgramEnd::Kind::refused,
              .reason = "its process wrote a line that is no message"};
    if (gone) return ending(worker);
    if (deadline.over())
      return {.kind = ProgramEnd::Kind::hung,
              .reason = fmt::format("it had no result after {:.0f} s", deadline.seconds())};
    std::array<pollfd, 2> fds = {{{.fd = worker.records_fd(), .events = POLLIN, .revents = 0},
                                  {.fd = worker.errors_fd(), .events = POLLIN, .revents = 0}}};
    ::poll(fds.data(), fds.size(), 100);
  }
}

}  // namespace

ProgramEnd run_in_worker(WorkerStart start, const SetupOrder& setup, const Program& program,
                         const ProgramBounds& bounds) {
  ::signal(SIGPIPE, SIG_IGN);  // a worker that is gone must not take this process along
  const FileDescriptor file = memory_file_of(program_json(program));
  start.program_fd = file.get();
  ProgramEnd end = run_once(start, setup, program, bounds);
  return end.kind == ProgramEnd::Kind::killed ? run_once(start, setup, program, bounds) : end;
}

}  // namespace tidemark
