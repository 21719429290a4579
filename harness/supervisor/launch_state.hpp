// What the phases of a launch share.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/hand_over.hpp"
#include "harness/command_line/launch_options.hpp"
#include "harness/plan.hpp"
#include "harness/relay/mesh.hpp"
#include "harness/supervisor/console.hpp"
#include "harness/supervisor/slot.hpp"
#include "harness/supervisor/stop.hpp"
#include "harness/telemetry/telemetry.hpp"
#include "reports/journal/journal.hpp"

namespace tidemark {

/// Where a slot of the launch is.
struct SlotPlace {
  std::uint32_t rank = 0;
  std::string uuid, host;

  /// "slot 2 (node07, GPU-5f...)"
  std::string text(std::uint32_t slot) const;
};

/// One slot of this rank.
struct LocalSlot {
  Slot slot;
  std::set<std::string> passed;  // names of cases, in this launch; of flaky ones none
  std::string failed = {};       // the last case of which an attempt failed
};

/// Waivers, to tell a person at once; what counts is decided when the report is made.
struct KnownFailures {
  const std::vector<Waiver>& waivers;
  double at_unix_s = 0;  // the moment they are held against: when the launch began
};

/// References to what run_launch owns, and the slots.
struct LaunchState {
  const LaunchOptions& options;
  const Plan& plan;
  Mesh& mesh;
  JournalWriter& journal;
  AppendedFile& received;  // rank 0's
  Telemetry& telemetry;
  Console& console;
  StopWatch& stop;
  DeviceKind device = DeviceKind::virtual_device;
  std::uint64_t seed = 0;
  std::uint32_t number = 1;       // of options.launches
  std::vector<SlotPlace> places;  // of all slots
  std::vector<GpuRecord> gpus;    // of this rank
  KnownFailures known;
  std::set<std::pair<std::string, std::uint32_t>> answered;  // case and slot, by a launch before
  /// The same of those that run again: attempts that failed there.
  std::map<std::pair<std::string, std::uint32_t>, std::uint32_t> failed_before;
  bool failed = false;  // a case on this rank, and no waiver names it
  HandOverDelays delays;
  std::vector<LocalSlot> mine;
};

/// Into the journal of this rank. A disk that takes nothing costs no result: rank 0 gets what is in
/// memory.
void keep(LaunchState& state, const Record& record);

/// Says once what is wrong with the disk of the journal.
void say_disk_trouble(LaunchState& state);

/// Puts what the hardware has said since the last call into the journal and on the terminal.
void keep_events(LaunchState& state);

/// Rank 0: keeps the journal lines that have come from ranks with folders of their own.
void keep_received(LaunchState& state);

/// The number of the first attempt at a case here: behind those that failed in a launch before.
std::uint32_t first_attempt(const LaunchState& state, const Case& which, std::uint32_t slot);

/// Writes the start of a case on a slot.
void begin_case(LaunchState& state, LocalSlot& local, const Case& which, std::uint32_t attempt,
                bool alone = false);

/// Journals the end of an attempt; prints what is no pass. `last` is false when another attempt
/// follows, so that only the last one counts in the progress.
void record(LaunchState& state, LocalSlot& local, const Case& which, std::uint32_t attempt,
            const Ending& ending, bool last);

/// One turn of the loop that every wait of a supervisor goes through: receives messages, keeps
/// journal lines, journals telemetry events, prints, and waits up to `most_wait_s` for a worker or
/// a signal. False when the launch is to end early.
bool turn(LaunchState& state, double most_wait_s);

/// Kills all workers of this rank, within about two seconds.
void end_workers(LaunchState& state);

}  // namespace tidemark
