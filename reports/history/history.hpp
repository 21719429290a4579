// The history of a fleet: each metric with the launches at which its level changed, each case with
// since when it passes or fails. What changed is advice: launches are few, and their noise is not
// independent.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "reports/history/chronicle.hpp"
#include "reports/history/levels.hpp"

namespace tidemark {

struct HistoryOptions {
  double floor = 0.01;      // least change of a level that is told: 1 %
  double discovery = 0.05;  // share of false ones among all that are told
};

/// One metric went from one level to another, for good or for some launches.
struct LevelChange {
  std::uint32_t metric = 0;             // index into History::metrics
  std::uint32_t gpu = kNoRow;           // index into Chronicle::gpus; kNoRow: the typical GPU
  bool apart = false;                   // that GPU against the others
  std::uint32_t before = 0, after = 0;  // the launches on both sides of it
  double step = 0;                      // natural logarithm of the value
  double from = 0, to = 0;              // levels, in the unit
  double p = 1;                         // of its series, all splits of it counted
  std::size_t nights = 0;               // of a newest night: those that it lies outside of

  bool is_worse(const MetricKey& key) const { return (step < 0) == key.higher_is_better; }
};

/// How far a series got. One that drifts has no levels: each night is near the one before, and what
/// looks like a step comes of that.
enum class Judged { too_short, steady, drifting, changed };

struct MetricPast {
  MetricKey key;
  const std::vector<PastValues>* values = nullptr;  // of the chronicle
  Judged judged = Judged::too_short;
  std::vector<std::size_t> changes = {};  // indices into History::changes
};

/// Changes between the same two launches, of all GPUs or of the same GPU.
struct ChangeEvent {
  std::uint32_t before = 0, after = 0;
  std::uint32_t gpu = kNoRow;
  std::vector<std::size_t> changes;  // indices into History::changes, the largest step first
  std::vector<SetupChange> setup;    // what else was not the same
};

/// Two launches that follow each other on one kind of device, and the kReleaseFactors that differ.
struct Release {
  std::uint32_t before = 0, after = 0;
  std::vector<SetupChange> setup;
  bool measured = false, judged = false;  // a series has nights on both sides; was split there
};

/// What is known of a case: what the newest launch says that has it. Only a pass as large on the
/// same GPU ends a failure (waived or not) or the loss of a GPU; after anything else, such as a
/// launch that was interrupted, the case is `open`.
enum class CaseState { failing, open, waived, lacking, passing, quiet };  // in this order

struct CasePast {
  std::string name;
  bool is_virtual = false;
  const std::vector<PastResults>* results = nullptr;  // of the chronicle
  CaseState state = CaseState::quiet;
  std::optional<std::uint32_t> first_bad = {};  // the first launch that failed it, waived or not
  std::uint32_t last_bad = 0;                   // the newest such launch
  std::uint32_t since = 0;           // failing, waived or passing: the launch that began it
  std::uint32_t last_pass = kNoRow;  // failing: the newest before it that passed as much of it
  std::size_t in_a_row = 0;          // launches of that state in a row, until now
  std::size_t launches_bad = 0, launches_waived = 0;  // those of the second are among the first
  std::size_t launches_without = 0;  // newer launches on the same kind of device without the case
  std::vector<std::uint32_t> open_gpus =
      {};  // failed or lost, and no run as large passed there since
  // Of these: the newest launch that failed there, and the newest that lost the GPU.
  std::optional<std::uint32_t> open_bad = {}, open_lost = {};
  std::size_t turns = 0;                // how often it went from pass to fail or back
  std::vector<SetupChange> setup = {};  // failing: what changed since it passed
};

struct History {
  Chronicle chronicle;  // in the order of time
  HistoryOptions options;
  std::set<std::string> restless;
  std::vector<MetricPast> metrics;
  std::vector<LevelChange> changes;
  std::vector<ChangeEvent> events;  // the newest first
  std::vector<Release> releases;    // in the order of time
  std::vector<LevelChange> newest;  // newest nights outside all before, the largest step first
  std::vector<CasePast> cases;      // failing, open, waived, lacking, then those that failed once

  History() = default;
  History(const History&) = delete;
  History& operator=(const History&) = delete;
  History(History&&) = default;  // maps keep their elements where they are
  History& operator=(History&&) = default;
};

/// Judges what was recorded; `all` need not be in order.
History history_of(Chronicle all, const HistoryOptions& options);

/// "failing", "open", ...; "too short", "steady", "changed".
std::string_view name_of(CaseState state);
std::string_view name_of(Judged judged);

/// What one launch alone says; never `open`.
CaseState state_of(const PastResults& results);

/// "gemm.local.speed rate", with the level, and the number of GPUs where it matters.
std::string title_of(const MetricKey& key);

/// One for each case of the chronicle, which is in the order of time: failing first, then open,
/// waived, lacking, then those that failed once. They refer to the chronicle.
std::vector<CasePast> case_pasts(const History& history);

}  // namespace tidemark
