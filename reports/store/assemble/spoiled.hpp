// Passes that the hardware itself speaks against.
#pragma once

#include <vector>

#include "reports/store/assemble/gather.hpp"

namespace tidemark::reports {

/// The events after which no result of their GPU and moment counts: uncontained memory errors.
std::vector<EventRecord> spoiling_events(const HeardLaunch& all);

/// The first of these events that fell into the time of this outcome; null where none did.
const EventRecord* spoiled_by(const std::vector<EventRecord>& spoiling,
                              const OutcomeRecord& outcome);

}  // namespace tidemark::reports
