// Compares events and outcomes by time.
#include "reports/store/assemble/spoiled.hpp"

#include "reports/journal/hardware_events.hpp"

namespace tidemark::reports {

std::vector<EventRecord> spoiling_events(const HeardLaunch& all) {
  std::vector<EventRecord> spoiling;
  for (const auto& [event, rank] : all.events)
    if (spoils_results(event.source, event.code, event.text)) spoiling.push_back(event);
  return spoiling;
}

const EventRecord* spoiled_by(const std::vector<EventRecord>& spoiling, std::uint32_t gpu,
                              double start_unix_s, double seconds) {
  constexpr double kLate = 1;  // seconds: the driver reports it, and telemetry polls, afterwards
  const double end = start_unix_s + seconds + kLate;
  for (const EventRecord& event : spoiling) {
    const bool meanwhile = event.at_unix_s >= start_unix_s && event.at_unix_s <= end;
    if (event.gpu == std::int64_t{gpu} && meanwhile) return &event;
  }
  return nullptr;
}

}  // namespace tidemark::reports
