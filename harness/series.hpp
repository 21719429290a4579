// Several launches of one command: what their reports are called, whether all ranks go on, and what
// the launches of a calibration differ by.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/output.hpp"
#include "harness/exit_code.hpp"
#include "harness/relay/mesh.hpp"
#include "harness/supervisor/stop.hpp"

namespace tidemark::harness {

/// Launches of one command; a calibration needs kFewestCalibrating and makes kUsualCalibrating.
inline constexpr std::uint32_t kMostLaunches = 1000;
inline constexpr std::uint32_t kUsualCalibrating = 5;

/// "night-3.h5": the third of several of "night.h5"; a launch alone keeps the name.
std::string report_name(const std::string& out, std::uint32_t number, std::uint32_t launches);

/// Meets all ranks between two launches. False on every rank when one was told to stop or is
/// silent; `stop` then has the reason.
bool all_go_on(Mesh& mesh, StopWatch& stop);

/// Reads the reports of a series, which this program wrote, and puts into each what they differ by
/// without any change; puts that out. Throws ReportError where one cannot be read or written or is
/// not complete; then each is still whole, with these keys or without. Returns `incomplete` where
/// no metric could be calibrated, and `usage`, with a line on stderr, where all is stored and `out`
/// has lost lines.
ExitCode calibrate(const std::vector<std::string>& reports, bool json, Output& out);

/// calibrate() on rank 0; every rank returns what came of it. A trouble is told in one line on
/// stderr and is a usage error, as for any report that cannot be written.
ExitCode calibrate_together(Mesh& mesh, const std::vector<std::string>& reports, bool json,
                            Output& out);

}  // namespace tidemark::harness
