// Several launches of one command: what their reports are called, and whether all ranks go on.
#pragma once

#include <cstdint>
#include <string>

#include "harness/relay/mesh.hpp"
#include "harness/supervisor/stop.hpp"

namespace tidemark {

/// Launches of one command.
inline constexpr std::uint32_t kMostLaunches = 1000;

/// "night-3.h5": the third of several of "night.h5"; a launch alone keeps the name.
std::string report_name(const std::string& out, std::uint32_t number, std::uint32_t launches);

/// Meets all ranks between two launches. False on every rank when one was told to stop or is
/// silent; `stop` then has the reason.
bool all_go_on(Mesh& mesh, StopWatch& stop);

}  // namespace tidemark
