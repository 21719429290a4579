// Why a launch ends early: a signal, or the time limit.
#pragma once

#include <csignal>
#include <optional>
#include <string>

#include "harness/base/child_process.hpp"
#include "harness/relay/mesh.hpp"

namespace tidemark {

struct StopReason {
  std::string text;    // "stopped by SIGTERM"
  int signal = 0;      // 0: the time limit, or a rank that cannot go on
  bool heard = false;  // another rank said so
};

/// For the other ranks: "15 stopped by SIGTERM".
std::string packed(const StopReason& reason);
/// What another rank said by packed().
StopReason heard_stop(const std::string& bytes);

/// SIGINT, SIGTERM and SIGHUP; the last not where this process was started to ignore it, as by
/// nohup: once blocked it would be heard all the same. The two others count: a script's background
/// ignores SIGINT, and who sends one means it.
sigset_t stop_signals();

/// Turns stop_signals() into something that is read: they are blocked and come through
/// a file descriptor. Made before any other thread, which inherits the mask. Owns the mask and the
/// descriptor.
class StopWatch {
 public:
  /// `time_limit_s` 0: none. Throws Error.
  explicit StopWatch(double time_limit_s);
  StopWatch(const StopWatch&) = delete;
  StopWatch& operator=(const StopWatch&) = delete;
  ~StopWatch();

  /// Looks for signals and at the clock. The first reason stays.
  const std::optional<StopReason>& check();
  void stop(StopReason reason);

  int fd() const { return signals_.get(); }

 private:
  FileDescriptor signals_;
  sigset_t before_{};
  double until_s_ = 0;
  double limit_s_ = 0;
  std::optional<StopReason> reason_;
};

/// Meets all ranks between two launches. False on every rank when one was told to stop or is
/// silent; `stop` then has the reason.
bool all_go_on(Mesh& mesh, StopWatch& stop);

}  // namespace tidemark
