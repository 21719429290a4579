// The two phases of a launch: what each GPU does on its own, then what all do together.
#pragma once

#include <string>

#include "harness/supervisor/launch_state.hpp"
#include "harness/supervisor/slot.hpp"

namespace tidemark {

// Slots that ended a case of all GPUs since data of other GPUs did not come.

/// The ending of a slot that waited for others, as it is recorded. `culprit`: who broke the round.
/// Where that is known the slot did not run the case, or has failed it if rows before the wait were
/// wrong. Without one it is a hang, so that a round in which all wait for each other is a failure.
Ending waiter_ending(Ending waiter, const std::string& culprit);

// The two phases of a launch: what each GPU does on its own, then what all do together.

/// Runs Plan::one_gpu on every slot of this rank, the slots at the same time and independently. A
/// case that failed or crashed is tried twice more in fresh workers, one whose worker was killed
/// from outside or could not be started once more. Returns early when the launch is stopped.
void run_one_gpu_phase(LaunchState& state);

/// Runs Plan::all_gpus, one case after the other on all slots of the launch, in step with the other
/// ranks. Returns why it could not go on, empty when all cases were run or said to be not_run.
std::string run_all_gpus_phase(LaunchState& state);

inline constexpr std::uint32_t kMostAttempts = 3;

/// The next attempt may pass, and then the case is flaky.
constexpr bool may_pass_again(Verdict verdict) {
  return verdict == Verdict::fail || verdict == Verdict::crash;
}

/// The case that a benchmark stands on, where that has not passed on a slot: then the number would
/// say nothing.
std::string missing_ground(const Case& which, const std::set<std::string>& passed);

}  // namespace tidemark
