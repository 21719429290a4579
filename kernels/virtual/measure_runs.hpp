// Timing of whole runs on the virtual device.
#pragma once

#include <functional>
#include <string>

#include "kernels/device.hpp"

namespace tidemark::kernels {

/// Times `run` on the host's clock, which says nothing about a GPU. Ends at the first fault, with
/// the samples so far. Throws as `run` does. Timing::slow is spun on the host.
Measurement measure_runs(const Timing& timing, const std::function<RunResult()>& run);

/// Keeps the host at work for so long: what a slowed benchmark does more.
void spin_on_host(double ns);

/// What a note says of it.
std::string host_spin_note(double ns);

}  // namespace tidemark::kernels
