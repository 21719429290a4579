// The least of a program that still fails: what a person wants to read, and to send to others.
#pragma once

#include <functional>

#include "harness/room.hpp"
#include "kernels/ops/program/program.hpp"

namespace tidemark::harness {

/// Takes steps out of `program`, in ever shorter runs, gives operands their default values and
/// drops CTAs, barriers, maps and regions that nothing names, as long as `fails` holds; what orders
/// CTAs stays while there are several. It has to
/// hold for `program`, and decides alone whether a program can be run at all. Asks it at most
/// kMostMinimizingRuns times.
Program minimized(Program program, const std::function<bool(const Program&)>& fails);

inline constexpr int kMostMinimizingRuns = 1000;

}  // namespace tidemark::harness
