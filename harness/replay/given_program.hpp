// A program that is to be run, of a file or of a report's row, and what is known of it before a
// device sees it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/device.hpp"
#include "kernels/ops/op.hpp"
#include "kernels/ops/program/program.hpp"
#include "reports/store/report.hpp"
#include "suite/case.hpp"
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

// The row of a case behind a result of a report: as this build makes it, else as the report has it.

struct RebuiltRow {
  const Case* which = nullptr;  // none: this build makes no such row; the program is the report's
  std::uint32_t row = 0;
  Op op = TileLoad{};                         // of `which`, with its payload
  const MiscompareRow* miscompare = nullptr;  // the first of this row that is stored
  std::optional<Program> program =
      std::nullopt;      // without checks; none where there is none to replay
  std::string run_line;  // "tidemark run --cases ... --row ..."
};

/// Row `row` of result `result`; without `row` that of the result's first miscompare. Rows follow
/// from the case, the level, the device and the seed of the launch alone. Where this build makes
/// another row than the report has, or none, the program is the report's. Throws UsageError with
/// one line that begins with `name` (the report) where that has none, and where there is no such
/// result or row.
RebuiltRow rebuilt_row(const Report& report, const std::string& name, std::uint32_t result,
                       std::optional<std::uint32_t> row);

/// Whether the row of the result's first miscompare is a program, so that rebuilt_row() and its
/// program need no `row`. Never throws for what is in a report.
bool has_program(const Report& report, std::uint32_t result);

/// The fault that was built into the virtual device of the launch; empty where there was none.
std::string fault_of(const Report& report, std::uint32_t result);

}  // namespace tidemark
