// Reads signals from a descriptor: no handler, so nothing runs in the middle of something else. And
// the meeting between two launches.
#include "harness/supervisor/stop.hpp"

#include <fmt/ranges.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "harness/base/clock.hpp"
#include "kernels/error.hpp"

namespace tidemark {

std::string packed(const StopReason& reason) {
  return fmt::format("{} {}", reason.signal, reason.text);
}

StopReason heard_stop(const std::string& bytes) {
  const std::size_t space = std::min(bytes.find(' '), bytes.size());
  return {.text = bytes.substr(std::min(space + 1, bytes.size())),
          .signal = std::atoi(bytes.c_str()),
          .heard = true};
}

sigset_t stop_signals() {
  sigset_t stops;
  ::sigemptyset(&stops);
  for (const int number : {SIGINT, SIGTERM}) ::sigaddset(&stops, number);
  struct sigaction now {};
  ::sigaction(SIGHUP, nullptr, &now);
  if (now.sa_handler != SIG_IGN) ::sigaddset(&stops, SIGHUP);
  return stops;
}

StopWatch::StopWatch(double time_limit_s)
    : until_s_(monotonic_s() + time_limit_s), limit_s_(time_limit_s) {
  const sigset_t stops = stop_signals();
  ::sigprocmask(SIG_BLOCK, &stops, &before_);
  signals_ = FileDescriptor(::signalfd(-1, &stops, SFD_CLOEXEC | SFD_NONBLOCK));
  if (signals_.get() < 0) {
    throw Error(std::string("cannot watch for signals: ") + std::strerror(errno));
  }
}

StopWatch::~StopWatch() {
  // A signal that came too late to matter must not kill the process while it leaves.
  check();
  ::sigprocmask(SIG_SETMASK, &before_, nullptr);
}

const std::optional<StopReason>& StopWatch::check() {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    const int number = static_cast<int>(info.ssi_signo);
    stop({.text = fmt::format("stopped by SIG{}", ::sigabbrev_np(number)), .signal = number});
  }
  if (limit_s_ > 0 && monotonic_s() > until_s_) {
    stop({.text = fmt::format("time limit of {:g} s", limit_s_)});
  }
  return reason_;
}

void StopWatch::stop(StopReason reason) {
  if (!reason_) reason_ = std::move(reason);
}

bool all_go_on(Mesh& mesh, StopWatch& stop) {
  Patience patience{
      .silence_s = 60, .total_s = 600, .meanwhile = [&stop] { return !stop.check(); }};
  // A rank that was told to stop has a second before mpirun kills it.
  if (stop.check()) patience = {.silence_s = 0.4, .total_s = 0.4};
  const FirstWord first = mesh.first_word(stop.check() ? stop.check()->text : "", patience);
  if (!first.text.empty()) stop.stop({.text = first.text, .signal = 0, .heard = true});
  if (!first.silent.empty()) {
    stop.stop({.text = fmt::format("rank {} was silent", fmt::join(first.silent, ", ")),
               .signal = 0,
               .heard = true});
  }
  return !stop.check();
}

}  // namespace tidemark
