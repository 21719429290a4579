// Slots that ended a case of all GPUs since data of other GPUs did not come.
#pragma once

#include <string>

#include "harness/room.hpp"
#include "harness/supervisor/slot.hpp"

namespace tidemark::harness {

/// The ending of a slot that waited for others, as it is recorded. `culprit`: who broke the round.
/// Where that is known the slot did not run the case, or has failed it if rows before the wait were
/// wrong. Without one it is a hang, so that a round in which all wait for each other is a failure.
Ending waiter_ending(Ending waiter, const std::string& culprit);

}  // namespace tidemark::harness
