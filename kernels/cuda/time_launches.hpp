// Times launches of a row's kernel by CUDA events.
#pragma once

#include <functional>

#include "kernels/cuda/row.hpp"

namespace tidemark {

/// Runs `launch` as often as `timing` says, each between two events, each waited for.
/// `read_answer` starts to read the answer back. `check` is called when a launch is through and
/// says what went wrong with it, or nothing; that, or a launch that never ended, ends the
/// measurement as a timeout. TimedSample::total_ns is one launch.
struct TimedLaunch {
  std::function<void()> launch;
  std::function<void()> read_answer;
  std::function<std::string()> check;
};
void time_launches(RowWorkspace& workspace, const TimedLaunch& what, const Timing& timing,
                   Measurement& result);

}  // namespace tidemark
