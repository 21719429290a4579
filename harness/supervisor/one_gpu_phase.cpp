// Each slot goes through its cases at its own pace.
#include <fmt/format.h>

#include <algorithm>

#include "harness/base/clock.hpp"
#include "harness/supervisor/launch_state.hpp"

namespace tidemark {
namespace {

constexpr double kMessageWait = 0.02;  // seconds; bounds how late a message of another rank is seen

/// How far one slot has come.
struct Queue {
  std::size_t next = 0;
  std::uint32_t attempt = 1;
  bool alone = false;  // the attempt before lost the GPU in a launch that several rows shared
  bool from_outside = false;  // the end of an attempt's worker
};

Ending not_run(Verdict verdict, std::string reason) {
  return {.verdict = verdict, .reason = std::move(reason), .start_unix_s = unix_s()};
}

/// Every planned case gets a record, also where nothing can run any more: missing is never pass.
void begin_next(LaunchState& state, LocalSlot& local, Queue& queue) {
  const Case& which = *state.plan.one_gpu[queue.next];
  if (state.answered.contains({std::string(which.name), local.slot.number()})) {
    ++queue.next;
  } else if (local.slot.lost()) {
    const SlotLost& lost = *local.slot.lost();
    const bool was_seen = lost.verdict == Verdict::unkillable || lost.verdict == Verdict::hang;
    const Verdict rest = was_seen ? Verdict::not_run : lost.verdict;
    record(state, local, which, 1, not_run(rest, lost.reason), true);
    ++queue.next;
  } else if (const std::string ground = missing_ground(which, local.passed); !ground.empty()) {
    record(state, local, which, 1, not_run(Verdict::not_run, ground), true);
    ++queue.next;
  } else {
    queue.attempt = std::max(queue.attempt, first_attempt(state, which, local.slot.number()));
    begin_case(state, local, which, queue.attempt, queue.alone);
  }
}

void take_ending(LaunchState& state, LocalSlot& local, Queue& queue, const Ending& ending) {
  const Case& which = *state.plan.one_gpu[queue.next];
  const bool unknown = !queue.alone && ending.outcome && ending.outcome->suspects > 0;
  const bool may_pass =
      may_pass_again(ending.verdict) || (ending.from_outside() && !queue.from_outside);
  const bool again = !local.slot.lost() && (unknown || (may_pass && queue.attempt < kMostAttempts));
  record(state, local, which, queue.attempt, ending, !again);
  queue.attempt = again ? queue.attempt + 1 : 1;
  queue.alone = again && (unknown || queue.alone);
  queue.from_outside = again && (ending.from_outside() || queue.from_outside);
  if (!again) ++queue.next;
}

}  // namespace

std::string missing_ground(const Case& which, const std::set<std::string>& passed) {
  if (which.correct_by.empty() || passed.count(std::string(which.correct_by)) != 0) return {};
  return fmt::format("correct_by case {} did not pass", which.correct_by);
}

void run_one_gpu_phase(LaunchState& state) {
  std::vector<Queue> queues(state.mine.size());
  const std::size_t cases = state.plan.one_gpu.size();
  const auto done = [&] {
    return std::all_of(queues.begin(), queues.end(),
                       [&](const Queue& queue) { return queue.next == cases; });
  };
  while (!done()) {
    bool moved = false;
    for (std::size_t i = 0; i < queues.size(); ++i) {
      LocalSlot& local = state.mine[i];
      if (const std::optional<Ending> ending = local.slot.step()) {
        take_ending(state, local, queues[i], *ending);
        moved = true;
      }
      if (queues[i].next < cases && !local.slot.busy()) {
        begin_next(state, local, queues[i]);
        moved = true;
      }
    }
    if (!turn(state, moved ? 0 : kMessageWait)) return;
  }
}

}  // namespace tidemark
