// Going on with an interrupted launch: what its journals have an answer for is not run again.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/command_line/launch_options.hpp"
#include "harness/supervisor/launch_state.hpp"
#include "reports/journal/record.hpp"

namespace tidemark {

/// What an interrupted launch leaves for the one that goes on with it.
struct Resumed {
  std::string folder, run_id;  // empty where nothing is resumed
  std::uint64_t seed = 0;
  std::uint32_t gpus = 0;
  std::vector<GpuRecord> known;         // of those GPUs; one whose rank wrote nothing is not there
  std::vector<OutcomeRecord> outcomes;  // of each pair of case and GPU all attempts, or none
  /// Failures of pairs that run again: a pass takes none of them back.
  std::vector<OutcomeRecord> failed;
  std::vector<EventRecord> events;  // spoiling_events()
};

/// Reads options.resume. Throws UsageError where that launch still runs, had other arguments or
/// another build, and ReportError where its journals make no launch.
Resumed read_resumed(const LaunchOptions& options);

/// The same with the slots of this launch for GPUs. Throws UsageError where this launch has other
/// GPUs.
Resumed on_slots(Resumed resumed, const std::vector<SlotPlace>& places);

/// Cases and slots that need not run.
std::set<std::pair<std::string, std::uint32_t>> answered(const Resumed& resumed);

/// Attempts that failed already, of cases and slots that run again.
std::map<std::pair<std::string, std::uint32_t>, std::uint32_t> failed_attempts(
    const Resumed& resumed);

/// Why this launch cannot go on with that one, as the rank of `gpus` sees it: another driver or
/// VBIOS, which the report could not tell apart. Empty where it can.
std::string differs_from(const Resumed& resumed, const std::vector<GpuRecord>& gpus);

/// A number that differs where the outcomes do.
std::uint64_t digest_of(const Resumed& resumed);

}  // namespace tidemark
