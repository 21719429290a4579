// Turns what a worker said into what the journal keeps.
#pragma once

#include <functional>
#include <string>

#include "harness/command_line/launch_options.hpp"
#include "harness/supervisor/slot.hpp"
#include "reports/journal/record.hpp"

namespace tidemark {

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

}  // namespace tidemark
