// Timing of whole runs on the virtual device.
#pragma once

#include <functional>

#include "kernels/device.hpp"

namespace tidemark {

/// Times `run` on the host's clock, which says nothing about a GPU. Ends at the first fault, with
/// the samples so far. Throws as `run` does.
Measurement measure_runs(const Timing& timing, const std::function<RunResult()>& run);

}  // namespace tidemark
