// A program that is to be run, and what is known of it before a device sees it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/device.hpp"
#include "kernels/ops/program/program.hpp"
#include "suite/oracle/program.hpp"
#include "suite/outcome.hpp"

namespace tidemark {

/// A program, the checks that every run adds, and the prediction of both.
struct PreparedProgram {
  Program program;  // as files hold it: without checks
  Program checked;  // as devices run it
  ProgramExpectation expected;

  /// Case::unlike_measured, where the program is a row of a behaviour case.
  std::function<std::vector<Miscompare>(const RunResult&)> unlike_measured = {};
};

/// Adds the checks and asks the oracle. Throws UsageError with one line that begins with `name`:
/// where the program is not sound, is too large, or does what no document defines.
PreparedProgram prepared(Program program, const std::string& name);

/// Reads a file of JSON. Throws UsageError.
Program given_program(const std::string& path);

// The least of a program that still fails: what a person wants to read, and to send to others.

/// Takes steps out of `program`, in ever shorter runs, gives operands their default values and
/// drops CTAs, barriers, maps and regions that nothing names, as long as `fails` holds; what orders
/// CTAs stays while there are several. It has to
/// hold for `program`, and decides alone whether a program can be run at all. Asks it at most
/// kMostMinimizingRuns times.
Program minimized(Program program, const std::function<bool(const Program&)>& fails);

inline constexpr int kMostMinimizingRuns = 1000;

}  // namespace tidemark
