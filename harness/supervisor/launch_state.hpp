// What the phases of a launch share, and the phases themselves: each GPU on its own, all together,
// the end.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/hand_over.hpp"
#include "harness/command_line/launch_options.hpp"
#include "harness/discovery/telemetry.hpp"
#include "harness/exit_code.hpp"
#include "harness/plan.hpp"
#include "harness/relay/mesh.hpp"
#include "harness/supervisor/console.hpp"
#include "harness/supervisor/slot.hpp"
#include "harness/supervisor/stop.hpp"
#include "reports/journal/journal.hpp"
#include "reports/journal/record.hpp"

namespace tidemark {

// Turns what a worker said into what the journal keeps.

/// What of a launch a record and its replay line need.
struct RecordPlace {
  std::uint32_t gpu = 0;
  std::uint32_t gpus = 1;  // of the launch
  std::string uuid = {};
  std::uint64_t seed = 0;  // of the launch
  DeviceKind device = DeviceKind::virtual_device;
  bool launched = false;  // by mpirun
  LaunchOptions options = {};
};

/// The reading of this GPU nearest to a moment.
using TelemetryAt = std::function<TelemetryPoint(double at_unix_s)>;

OutcomeRecord outcome_record(const RecordPlace& place, const Case& which, std::uint32_t attempt,
                             const Ending& ending, const TelemetryAt& telemetry);

/// A command line that runs the case again; `row` below 0: all of its rows.
std::string replay_line(const RecordPlace& place, const Case& which, std::int64_t row);

/// Lines for a result that is no pass: where, what, what to do next, how to replay it.
std::string trouble_text(const OutcomeRecord& record, const std::string& where, DeviceKind device,
                         bool colour);

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

// Slots that ended a case of all GPUs since data of other GPUs did not come.

/// The ending of a slot that waited for others, as it is recorded. `culprit`: who broke the round.
/// Where that is known the slot did not run the case, or has failed it if rows before the wait were
/// wrong. Without one it is a hang, so that a round in which all wait for each other is a failure.
Ending waiter_ending(Ending waiter, const std::string& culprit);

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

// The end of a launch: journals become the report, and all ranks agree on the exit code.

struct Opening;
class ReporterProcess;

/// Journals the end of this rank; brings all journals to rank 0, which makes the report, checks it
/// and says what came out. `reporter` is rank 0's, else null. Returns the code that all ranks
/// return.
ExitCode close_launch(LaunchState& state, const Opening& opening, const std::string& trouble,
                      ReporterProcess* reporter);

}  // namespace tidemark
