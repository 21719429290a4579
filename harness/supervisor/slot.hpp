// One slot: a GPU (or virtual device) of this supervisor, the worker that uses it, and the bounds
// on everything that worker does.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "harness/supervisor/worker_process.hpp"
#include "reports/schema/verdict.hpp"
#include "suite/case.hpp"

namespace tidemark {

/// From the start of a worker until it has its device, seconds. Compiling all kernels took 65 s
/// (driver 580.159.04, one core of a server).
inline constexpr double kReady = 120, kReadyJit = 900;

/// Bounds of one slot, in seconds.
struct SlotBounds {
  double ready = kReady;
  double least_case = 60;
  double case_factor = 10;  // times Case::seconds: without any progress for so long is a hang
  double kill = 20;         // from SIGKILL until the process counts as unkillable
  // A hang in a case of all GPUs is judged so much later, unless the worker was stopped: that of
  // another slot may have been, and then is the cause.
  double after_stopped = 5;
};

/// How one attempt at a case ended.
struct Ending {
  Verdict verdict = Verdict::not_run;
  std::string reason = {};              // one line; empty for a pass
  std::optional<Outcome> outcome = {};  // when the worker lived to say it
  int signal = 0, exit_code = 0;
  bool unstarted = false;  // no worker could be started for it
  double start_unix_s = 0, seconds = 0;
  std::uint32_t rows_planned = 0, rows_run = 0;  // by the last progress that was heard of
  std::int64_t row = -1;  // the one that its worker ended in without a word, where it is known

  /// The worker ended the case since data of other GPUs did not come: who is at fault is not known.
  bool waited_for_others() const { return outcome && outcome->judgement == Judgement::others_late; }
  /// Its worker was killed from outside or could not be started, which says nothing about the case
  /// or the GPU.
  bool from_outside() const { return verdict == Verdict::tool_error && (signal != 0 || unstarted); }
};

/// Why nothing more can run on a slot.
struct SlotLost {
  Verdict verdict = Verdict::gpu_lost;  // gpu_lost, unkillable, tool_error or hang
  std::string reason;
};

/// Runs one case at a time in a worker that lives on from case to case while all goes well. Never
/// blocks: step() moves everything on.
class Slot {
 public:
  Slot(SetupOrder setup, WorkerStart start, SlotBounds bounds = {});

  /// Starts a worker where there is none. A process that cannot be started is seen as one that
  /// ended before it was ready.
  void start_worker();
  /// Starts workers with this relay segment from now on.
  void use_segment(int fd) { start_.segment_fd = fd; }
  /// Sends an order that belongs to no case.
  void send(const Order& order);

  /// Begins an attempt; at most one at a time. The slot must not be busy or lost.
  void begin(const Case& which, std::uint32_t attempt, bool alone = false);
  /// Moves on; the end of the attempt, once.
  std::optional<Ending> step();
  /// Ends the attempt with this verdict as soon as its worker is gone.
  void give_up(Verdict verdict, std::string reason);
  /// Has the worker killed; busy() until it is gone.
  void stop_worker();

  /// Something is still going on: an attempt, or the end of a worker.
  bool busy() const { return attempt_.has_value() || killed_s_.has_value(); }
  bool attempting() const { return attempt_.has_value(); }
  const std::optional<SlotLost>& lost() const { return lost_; }
  void lose(SlotLost why) { lost_ = std::move(why); }
  std::optional<NcclId> take_nccl_id();
  /// What the worker said when it could not carry out an order that belongs to no case.
  const std::string& trouble() const { return trouble_; }
  const WorkerProcess* worker() const { return worker_.get(); }
  std::uint32_t number() const { return setup_.slot; }

 private:
  struct Attempt {
    const Case* which = nullptr;
    double deadline_s = 0;  // without progress, once running
    double last_sign_s = 0;
    double begun_s = 0;
    double begun_unix_s = 0;
    std::uint32_t rows = 0, done = 0;      // by its last progress; no rows before the first
    RunOrder order = {};                   // what its worker is told
    std::uint32_t rows_apart = 0;          // of a fault case: each in a worker of its own
    std::optional<Outcome> gathered = {};  // of the rows that ran in workers before this one
    std::uint32_t lost_workers = 0;        // by rows after which it went on
    std::optional<Ending> concluded = {};  // its verdict is known; its worker is still to go
  };

  void hear(const Said& said);
  void hear_outcome(const Outcome& outcome);
  void conclude_with(Outcome outcome);
  bool goes_on(const Outcome& outcome) const;
  void order_run();
  void conclude(Verdict verdict, std::string reason, ProcessEnd end = {});
  void move_stop_on();
  void check_deadlines();
  void worker_gone(ProcessEnd end);
  void count_unready(bool not_the_gpu, const std::string& reason);
  std::optional<Ending> finished();

  SetupOrder setup_;
  WorkerStart start_;
  SlotBounds bounds_;
  std::unique_ptr<WorkerProcess> worker_;
  bool ready_ = false;
  double started_s_ = 0;
  std::optional<Attempt> attempt_;
  std::optional<double> killed_s_;  // when its worker was
  std::optional<SlotLost> lost_;
  std::uint32_t unready_in_a_row_ = 0, hangs_ = 0;
  bool unready_not_by_gpu_ = false;  // one of those in a row
  std::optional<Ending> idle_end_;   // of the worker before, where it ended between attempts
  std::optional<NcclId> nccl_id_;
  std::string trouble_;
};

}  // namespace tidemark
