// The row of a case behind a result of a report, made again from what the report stores.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/room.hpp"
#include "kernels/ops/op.hpp"
#include "kernels/ops/program/program.hpp"
#include "reports/store/report.hpp"
#include "suite/case.hpp"

namespace tidemark::harness {

struct RebuiltRow {
  const Case* which = nullptr;
  std::uint32_t row = 0;
  Op op = TileLoad{};                         // with its payload
  const MiscompareRow* miscompare = nullptr;  // the first of this row that is stored
  std::optional<Program> program =
      std::nullopt;      // without checks; none where there is none to replay
  std::string run_line;  // "tidemark run --cases ... --row ..."
};

/// Row `row` of result `result`; without `row` that of the result's first miscompare. Rows follow
/// from the case, the level, the device and the seed of the launch alone. Throws UsageError with
/// one line that begins with `name` (the report) where there is no such result or row, and where
/// this build makes another row of it than the report has.
RebuiltRow rebuilt_row(const Report& report, const std::string& name, std::uint32_t result,
                       std::optional<std::uint32_t> row);

/// Whether the row of the result's first miscompare is a program, so that rebuilt_row() and its
/// program need no `row`. Never throws for what is in a report.
bool has_program(const Report& report, std::uint32_t result);

/// The fault that was built into the virtual device of the launch; empty where there was none.
std::string fault_of(const Report& report, std::uint32_t result);

}  // namespace tidemark::harness
