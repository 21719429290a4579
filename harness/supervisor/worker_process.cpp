// Starts, hears, signals and reaps one worker.
#include "harness/supervisor/worker_process.hpp"

#include <signal.h>
#include <unistd.h>

#include <cstring>

#include <fmt/format.h>

#include "harness/discovery/node_files.hpp"
#include "kernels/error.hpp"

namespace tidemark {
namespace {

constexpr std::size_t kKeptErrors = 2000;
constexpr std::size_t kShownErrors = 300;
constexpr std::size_t kLongestLine = std::size_t{64} << 20;

}  // namespace

WorkerProcess::WorkerProcess(const WorkerStart& start) {
  // Its standard output goes where its errors go: nothing of a worker may mix with the report of
  // rank 0, but its last words are wanted after a crash.
  Pipe orders = make_pipe();
  Pipe records = make_pipe();
  Pipe errors = make_pipe();
  ChildOrder order{
      .program = start.program,
      .arguments = {"tidemark", "__worker"},
      // Lazy loading may synchronise in the middle of a spinning kernel.
      .settings = {{"CUDA_MODULE_LOADING", "EAGER"}},
      .fds = {-1, errors.write.get(), errors.write.get(), orders.read.get(), records.write.get()}};
  if (!start.visible_gpu.empty()) {
    order.settings.emplace_back("CUDA_VISIBLE_DEVICES", start.visible_gpu);
  }
  // Not what the user's environment says: replays and compare know of --jit alone.
  order.settings.emplace_back("CUDA_FORCE_PTX_JIT", start.jit ? "1" : "0");
  if (start.segment_fd >= 0 || start.program_fd >= 0) order.fds.push_back(start.segment_fd);
  if (start.program_fd >= 0) order.fds.push_back(start.program_fd);
  oom_kills_ = oom_kills();
  child_ = ChildProcess(order);
  orders_ = std::move(orders.write);
  records_ = std::move(records.read);
  errors_ = std::move(errors.read);
  for (const FileDescriptor* fd : {&orders_, &records_, &errors_}) set_non_blocking(fd->get());
}

// Killed processes are reaped in milliseconds; one that is stuck in the driver is left to init.
WorkerProcess::~WorkerProcess() { child_.kill_within(2); }

void WorkerProcess::send(const Order& order) {
  const std::string line = order_line(order);
  if (orders_.get() < 0) return;
  const ssize_t written = ::write(orders_.get(), line.data(), line.size());
  // Orders are shorter than PIPE_BUF, so they are written whole or not at all.
  if (written != static_cast<ssize_t>(line.size())) orders_.close();
}

void WorkerProcess::pump() {
  read_records();
  read_errors();
}

void WorkerProcess::read_records() {
  drain(records_, partial_);
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = partial_.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    try {
      said_.push_back(said_in(partial_.substr(begin, end - begin)));
    } catch (const Error&) {
      broken_ = true;
    }
  }
  partial_.erase(0, begin);
  if (partial_.size() > kLongestLine) {
    broken_ = true;
    partial_.clear();
  }
}

void WorkerProcess::read_errors() {
  drain(errors_, errors_tail_);
  if (errors_tail_.size() > kKeptErrors) {
    errors_tail_.erase(0, errors_tail_.size() - kKeptErrors);
  }
}

std::optional<Said> WorkerProcess::take() {
  if (said_.empty()) return std::nullopt;
  Said said = std::move(said_.front());
  said_.pop_front();
  return said;
}

const std::optional<ProcessEnd>& WorkerProcess::ended() {
  const std::optional<ProcessEnd>& end = child_.ended();
  // Asked once: an end between two questions would leave the last messages in the pipe.
  if (end) pump();
  return end;
}

std::string WorkerProcess::end_text(std::string_view where) {
  const ProcessEnd& end = *child_.ended();
  const bool from_outside = end.killed_from_outside();
  std::string text = fmt::format("left with status {}", end.exit_code);
  if (end.signal != 0)
    text = fmt::format("{}{} by signal {} ({})", from_outside ? "was killed from outside" : "died",
                       end.signal == SIGKILL ? " (out of memory?)" : "", end.signal,
                       ::strsignal(end.signal));
  if (!where.empty()) text += fmt::format(" {}", where);
  const std::optional<std::uint64_t> count = oom_kills();
  if (from_outside && count && oom_kills_)
    text +=
        fmt::format("; oom_kill of its memory cgroup is {}, at its start {}", *count, *oom_kills_);
  const std::string words = last_words();
  return words.empty() ? text : text + "; its last words: " + words;
}

std::string WorkerProcess::last_words() const {
  std::string words;
  for (const char letter : errors_tail_) {
    if (letter == '\n') {
      words += " | ";
    } else {
      words += letter >= ' ' && letter <= '~' ? letter : '?';
    }
  }
  while (words.ends_with(" | ")) words.resize(words.size() - 3);
  if (words.size() > kShownErrors) words = "..." + words.substr(words.size() - kShownErrors);
  return words;
}

}  // namespace tidemark
