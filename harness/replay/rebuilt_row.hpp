// The row of a case behind a result of a report: as this build makes it, else as the report has it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kernels/ops/op.hpp"
#include "kernels/ops/program/program.hpp"
#include "reports/store/report.hpp"
#include "suite/case.hpp"

namespace tidemark {

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
