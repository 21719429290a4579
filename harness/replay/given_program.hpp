// A program that is to be run, and what is known of it before a device sees it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/room.hpp"
#include "kernels/device.hpp"
#include "suite/oracle/program.hpp"
#include "suite/outcome.hpp"

namespace tidemark::harness {

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

}  // namespace tidemark::harness
