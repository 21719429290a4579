// The records of all journals of one launch, sorted by kind and checked against each other.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "reports/journal/journal.hpp"
#include "reports/schema/tables.hpp"

namespace tidemark::reports {

/// An event and the rank in whose journal it stands; kNoRow where that is not known.
struct HeardEvent {
  EventRecord event;
  std::uint32_t rank = kNoRow;
};

/// Everything that was heard of one launch but its outcomes.
struct HeardLaunch {
  LaunchRecord launch;
  std::vector<NodeRecord> nodes;
  std::vector<GpuRecord> gpus;  // the first of each GPU
  std::vector<HeardEvent> events;
  PolicyRecord policy;                // the first; every rank wrote the same
  std::vector<bool> reported, ended;  // by rank: left any record of its own; an end record
  std::vector<std::string> problems;  // each makes the report incomplete
  std::uint32_t lost_lines = 0;       // of journals: damaged, foreign or missing
};

/// Most pairs of case and GPU a launch may plan; beyond it a launch record is not believed.
inline constexpr std::uint64_t kMostPlanned = 20'000'000;

/// What one journal says of planned cases on planned GPUs, in its order.
struct HeardCases {
  std::vector<StartRecord> starts;
  std::vector<OutcomeRecord> outcomes;
};

/// Gets what each journal says, one after the other; of `all` it finds the launch alone.
using TakeCases = std::function<void(const HeardLaunch& all, HeardCases cases)>;

/// Throws ReportError where no launch record is found or ranks planned different launches. Journals
/// of another run than most, and all but the first of a rank, are left out, which is a problem.
HeardLaunch gather(const Journals& journals, const TakeCases& take);

}  // namespace tidemark::reports
