// The checks of every program. The runner adds them, so that no case can leave them out.
#pragma once

#include "kernels/ops/op.hpp"
#include "kernels/ops/program/program.hpp"

namespace tidemark {

/// `program` with its checks. It begins with poison in every window. Each barrier is checked before
/// it is invalidated, and those that are left at the end, where each CTA's window is handed out as
/// well:
///   1. everything in flight is given time to land;
///   2. a meter counts what is pending, and the phase behind it is tested, which must be open;
///   3. the last boxes that completed on the barrier are loaded once more into a poisoned window,
///      announced exactly, and the window is handed out: a phase that credit from before keeps
///      open, or completes early, is seen here. Where they are multicast all CTAs take part, and
///      the windows of those outside the mask are handed out as well;
///   4. a second meter counts what came too much or too late.
/// Barriers that no copy completed on have no step 3. A program that stops has none of what is
/// behind the stop.
Program with_checks(const Program& program);

/// The program of a row that is_program(), with its checks. Throws Error for any other.
Program checked_program(const Op& op);

}  // namespace tidemark
