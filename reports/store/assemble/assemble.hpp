// Journals of one launch become a report.
#pragma once

#include <cstdint>
#include <vector>

#include "reports/store/assemble/assembly.hpp"

namespace tidemark::reports {

/// The events after which no result of their GPU and moment counts: uncontained memory errors.
std::vector<EventRecord> spoiling_events(const HeardLaunch& all);

/// The first of these events that fell into the time of an outcome on `gpu`; null where none did.
const EventRecord* spoiled_by(const std::vector<EventRecord>& spoiling, std::uint32_t gpu,
                              double start_unix_s, double seconds);

}  // namespace tidemark::reports
