// The states of a slot: no worker, starting, ready, at a case, being stopped.
#include "harness/supervisor/slot.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "harness/base/clock.hpp"
#include "kernels/error.hpp"
#include "reports/base/process_state.hpp"
#include "reports/schema/verdict.hpp"
#include "suite/outcome.hpp"

namespace tidemark {
namespace {

/// So many workers in a row that do not get as far as their device, and the slot is given up.
constexpr std::uint32_t kMostUnready = 3;

/// So many cases that hang, and the slot is given up: each costs a deadline of a minute or more, in
/// which all others may have to wait.
constexpr std::uint32_t kMostHangs = 3;

/// So many rows of an attempt may lose their worker the GPU, and it goes on behind each. More say
/// nothing new: each leaves an Xid, and each new worker takes a second.
constexpr std::uint32_t kMostLostWorkers = 8;

Verdict verdict_of(Judgement judgement) {
  switch (judgement) {
    case Judgement::pass:
      return Verdict::pass;
    case Judgement::fail:
      return Verdict::fail;
    case Judgement::sticky:
      return Verdict::sticky;
    case Judgement::timeout:
    case Judgement::others_late:
      return Verdict::hang;
    case Judgement::tool_error:
      return Verdict::tool_error;
    case Judgement::skip:
      return Verdict::skip;
  }
  return Verdict::tool_error;
}

constexpr std::string_view kBeforeProgress = "before its first progress";

/// How far a case had come, for reasons; `not_begun` where no progress was heard of.
std::string where_of(std::uint32_t done, std::uint32_t rows, std::string_view not_begun) {
  return rows == 0 ? std::string(not_begun) : fmt::format("after row {} of {}", done, rows);
}

/// How many rows have to run in workers of their own; 0 where one runs them all.
std::uint32_t rows_apart(const SetupOrder& setup, const Case& which) {
  if (which.expected_error == nullptr || setup.options.row >= 0) return 0;
  const RunContext context{.level = setup.options.level,
                           .seed = case_seed(setup.seed, which.name),
                           .device = setup.device};
  return static_cast<std::uint32_t>(which.rows(context).size());
}

/// The longest silence of a product that the user gave.
double product_patience(const SetupOrder& setup, const Case& which) {
  return which.product == ProductUse::sizes && setup.options.product.has_shape()
             ? patience_s(setup.options.product.shape, setup.slots, setup.device)
             : 0;
}

}  // namespace

Slot::Slot(SetupOrder setup, WorkerStart start, SlotBounds bounds)
    : setup_(std::move(setup)), start_(std::move(start)), bounds_(bounds) {}

void Slot::start_worker() {
  if (worker_) return;
  ready_ = false;
  trouble_.clear();
  nccl_id_.reset();
  idle_end_.reset();
  started_s_ = running_s();
  try {
    worker_ = std::make_unique<WorkerProcess>(start_);
    worker_->send(setup_);
  } catch (const Error& refused) {
    const std::string reason = fmt::format(
        "could not start a worker: {}; see the limits of processes and open files (ulimit -a, "
        "pids.max)",
        refused.what());
    count_unready(true, reason);
    conclude(Verdict::tool_error, reason, {.unstarted = true});
  }
}

void Slot::send(const Order& order) {
  if (worker_) worker_->send(order);
}

void Slot::begin(const Case& which, std::uint32_t attempt, bool alone) {
  const double now = running_s();
  attempt_ =
      Attempt{.which = &which,
              .deadline_s = std::max({bounds_.least_case, bounds_.case_factor * which.seconds,
                                      product_patience(setup_, which)}),
              .last_sign_s = now,
              .begun_s = now,
              .begun_unix_s = unix_s(),
              .order = {.case_name = std::string(which.name), .attempt = attempt, .alone = alone},
              .rows_apart = rows_apart(setup_, which)};
  if (attempt_->rows_apart > 0) {
    attempt_->order.row = 0;
    attempt_->rows = attempt_->rows_apart;
    if (worker_) return stop_worker();  // it has run other cases; step() goes on in a new one
  }
  // A new worker would lack the transport between those of this round.
  if (idle_end_ && which.scope == CaseScope::all_gpus && setup_.slots > 1)
    return conclude(idle_end_->verdict, idle_end_->reason,
                    {.signal = idle_end_->signal,
                     .exit_code = idle_end_->exit_code,
                     .unstarted = idle_end_->unstarted});
  order_run();
}

// The order goes into the pipe at once; the worker reads it when it has its device, and the
// deadline of the case counts from there.
void Slot::order_run() {
  start_worker();
  send(attempt_->order);
}

std::optional<Ending> Slot::step() {
  if (worker_) {
    worker_->pump();
    while (const std::optional<Said> said = worker_->take()) hear(*said);
    if (worker_->broken()) {
      conclude(Verdict::tool_error, "the worker wrote a line that is no message");
      stop_worker();
    }
    if (worker_->ended()) {
      // A worker may say its outcome and crash on its way out: what it said comes first.
      while (const std::optional<Said> said = worker_->take()) hear(*said);
      worker_gone(*worker_->ended());
    } else if (killed_s_) {
      move_stop_on();
    } else {
      check_deadlines();
    }
  }
  // The worker of the row or case before is gone; nothing else leaves an attempt without one.
  if (attempt_ && !attempt_->concluded && !worker_) order_run();
  return finished();
}

std::optional<Ending> Slot::finished() {
  if (!attempt_ || !attempt_->concluded || killed_s_) return std::nullopt;
  Ending ending = std::move(*attempt_->concluded);
  if (!ending.outcome) {
    // What rows came to in the workers before is not lost with the one that said nothing.
    ending.outcome = std::move(attempt_->gathered);
    ending.row = attempt_->order.row;
    const Verdict before = ending.outcome ? verdict_of(ending.outcome->judgement) : Verdict::pass;
    if (ending.from_outside() && is_failure(before)) {
      ending.verdict = before;
      ending.reason = fmt::format("{}; {}", ending.outcome->reason, ending.reason);
    }
  }
  attempt_.reset();
  return ending;
}

void Slot::hear(const Said& said) {
  const double now = running_s();
  if (std::holds_alternative<SaidReady>(said)) {
    ready_ = true;
    unready_in_a_row_ = 0;
    if (attempt_) attempt_->last_sign_s = now;
  } else if (const auto* id = std::get_if<SaidNcclId>(&said)) {
    nccl_id_ = id->id;
  } else if (const auto* trouble = std::get_if<SaidTrouble>(&said)) {
    trouble_ = trouble->text;
  }
  if (!attempt_ || attempt_->concluded) return;
  if (const auto* started = std::get_if<SaidStarted>(&said)) {
    attempt_->last_sign_s = now;
    if (started->patience_s > 0) {
      attempt_->deadline_s = std::min(attempt_->deadline_s, started->patience_s);
    }
  } else if (const auto* progress = std::get_if<SaidProgress>(&said)) {
    attempt_->last_sign_s = now;
    if (attempt_->rows_apart > 0) return;  // it speaks of its one row
    attempt_->rows = attempt_->order.first_row + progress->rows;
    attempt_->done = attempt_->order.first_row + progress->done;
  } else if (const auto* outcome = std::get_if<SaidOutcome>(&said)) {
    hear_outcome(outcome->outcome);
  }
}

/// Whether rows behind those of `outcome` are still to run, in a new worker.
bool Slot::goes_on(const Outcome& outcome) const {
  const Attempt& attempt = *attempt_;
  if (attempt.rows_apart > 0) {
    const bool judged = outcome.judgement == Judgement::pass ||
                        outcome.judgement == Judgement::fail ||
                        outcome.judgement == Judgement::skip;
    return judged && attempt.order.row + 1 < std::int64_t{attempt.rows_apart};
  }
  // The row that lost the GPU is known, so that none behind it need be lost with it.
  return outcome.device_spent && outcome.rows_left > 0 && outcome.suspects == 0 &&
         attempt.which->scope == CaseScope::one_gpu &&
         attempt.which->kind == CaseKind::conformance && attempt.lost_workers < kMostLostWorkers;
}

void Slot::hear_outcome(const Outcome& outcome) {
  const bool more = goes_on(outcome);
  std::optional<Outcome>& gathered = attempt_->gathered;
  if (gathered) {
    add_rows(outcome, *gathered);
  } else {
    gathered = outcome;
    if (attempt_->rows_apart > 0) gathered->rows_planned = attempt_->rows_apart;
  }
  if (!more) return conclude_with(*std::exchange(gathered, std::nullopt));
  if (attempt_->rows_apart > 0) {
    attempt_->done = static_cast<std::uint32_t>(++attempt_->order.row);
  } else {
    ++attempt_->lost_workers;
    attempt_->order.first_row = gathered->rows_planned - outcome.rows_left;
  }
  attempt_->last_sign_s = running_s();
  stop_worker();  // step() goes on in a new one
}

void Slot::conclude_with(Outcome outcome) {
  const Verdict verdict = verdict_of(outcome.judgement);
  std::string reason = outcome.reason;
  if (verdict == Verdict::tool_error && !trouble_.empty()) reason += ": " + trouble_;
  if (attempt_->lost_workers > 0 && outcome.rows_left > 0)
    reason += fmt::format("; {} rows were not run: {} rows lost the GPU", outcome.rows_left,
                          attempt_->lost_workers + 1);
  // A case that had to end in a CUDA error passes and costs its worker all the same.
  const bool spent = outcome.device_spent;
  conclude(verdict, reason);
  attempt_->concluded->outcome = std::move(outcome);
  if (!spent && (verdict == Verdict::pass || verdict == Verdict::skip)) return;
  // Only a device that has done all it was told is used again. In a case of all GPUs the others may
  // still be fetching from a worker that has failed: whoever leads the round ends it.
  if (!spent && verdict == Verdict::fail && attempt_->which->scope == CaseScope::all_gpus) return;
  stop_worker();
}

void Slot::conclude(Verdict verdict, std::string reason, ProcessEnd end) {
  std::optional<Ending>& concluded = attempt_ ? attempt_->concluded : idle_end_;
  if (concluded) return;
  concluded = Ending{.verdict = verdict,
                     .reason = std::move(reason),
                     .signal = end.signal,
                     .exit_code = end.exit_code,
                     .unstarted = end.unstarted};
  if (!attempt_) return;
  concluded->start_unix_s = attempt_->begun_unix_s;
  concluded->seconds = running_s() - attempt_->begun_s;
  concluded->rows_planned = attempt_->rows;
  concluded->rows_run = attempt_->done;
}

void Slot::give_up(Verdict verdict, std::string reason) {
  conclude(verdict, std::move(reason));
  stop_worker();
}

void Slot::stop_worker() {
  if (!worker_ || killed_s_) return;
  worker_->signal_group(SIGKILL);  // workers ignore what is weaker
  killed_s_ = running_s();
}

void Slot::move_stop_on() {
  if (running_s() - *killed_s_ > bounds_.kill) {
    const std::string reason = fmt::format(
        "worker {} did not end {:.0f} s after SIGKILL: it is stuck in the driver; "
        "drain this node and restart it",
        worker_->pid(), bounds_.kill);
    // A hang that cannot be ended is worse than a hang; what the worker itself had said stands.
    if (attempt_ && !(attempt_->concluded && attempt_->concluded->outcome)) {
      attempt_->concluded.reset();
      conclude(Verdict::unkillable, reason);
    }
    lost_ = SlotLost{.verdict = Verdict::unkillable, .reason = reason};
    killed_s_.reset();
    worker_.reset();
  }
}

void Slot::check_deadlines() {
  const double now = running_s();
  if (!ready_) {
    if (now - started_s_ <= bounds_.ready) return;
    const std::string reason =
        fmt::format("the worker had no device after {:.0f} s", bounds_.ready);
    count_unready(false, reason);
    conclude(Verdict::hang, reason);
    stop_worker();
  } else if (attempt_ && !attempt_->concluded &&
             now - attempt_->last_sign_s > attempt_->deadline_s) {
    // Asked before it is killed. Of several workers that wait for each other, a stopped one is the
    // cause. Its end is told to the others, which may hang because of it.
    const bool stopped = process_state(worker_->pid()).value_or(ProcessState{}).stopped();
    if (!stopped && attempt_->which->scope == CaseScope::all_gpus &&
        now - attempt_->last_sign_s <= attempt_->deadline_s + bounds_.after_stopped)
      return;
    conclude(Verdict::hang,
             fmt::format(
                 "no progress for {:.0f} s {}{}", attempt_->deadline_s,
                 where_of(attempt_->done, attempt_->rows, "since the case began"),
                 stopped ? ": its worker was stopped (SIGSTOP or a debugger), look by whom" : ""));
    if (++hangs_ == kMostHangs) {
      lost_ = SlotLost{.verdict = Verdict::hang,
                       .reason = fmt::format("{} cases hung on this GPU, so nothing more is run "
                                             "on it; the last was {}",
                                             kMostHangs, attempt_->which->name)};
    }
    stop_worker();
  }
}

// By value: the end lies in the worker, which goes here.
void Slot::worker_gone(ProcessEnd end) {
  const std::unique_ptr<WorkerProcess> gone = std::move(worker_);
  const bool was_ready = std::exchange(ready_, false);
  // After a stop the verdict stands already, and how the kernel ended the process says nothing new.
  if (std::exchange(killed_s_, std::nullopt)) return;
  const std::string reason =
      "the worker " + gone->end_text(!was_ready ? "before it had its device"
                                     : attempt_
                                         ? where_of(attempt_->done, attempt_->rows, kBeforeProgress)
                                         : kBeforeProgress);
  const bool crashed = end.signal != 0 && !end.killed_from_outside();
  if (!was_ready) count_unready(!crashed, reason);
  conclude(crashed ? Verdict::crash : Verdict::tool_error, reason, end);
}

void Slot::count_unready(bool not_the_gpu, const std::string& reason) {
  unready_not_by_gpu_ = not_the_gpu || (unready_in_a_row_ > 0 && unready_not_by_gpu_);
  if (++unready_in_a_row_ < kMostUnready) return;
  lost_ = SlotLost{.verdict = unready_not_by_gpu_ ? Verdict::tool_error : Verdict::gpu_lost,
                   .reason = fmt::format("{} workers in a row did not get their device: {}",
                                         kMostUnready, reason)};
}

std::optional<NcclId> Slot::take_nccl_id() { return std::exchange(nccl_id_, std::nullopt); }

}  // namespace tidemark
