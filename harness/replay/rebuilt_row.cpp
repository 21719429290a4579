// Makes the rows of a case again and takes one.
#include "harness/replay/rebuilt_row.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "harness/base/errors.hpp"
#include "harness/base/output.hpp"
#include "kernels/error.hpp"
#include "kernels/ops/program/program_json.hpp"
#include "reports/store/report.hpp"
#include "suite/runner.hpp"

namespace tidemark {
namespace {

const MiscompareRow* first_miscompare(const Report& report, std::uint32_t result,
                                      std::optional<std::uint32_t> row) {
  for (const MiscompareRow& one : report.miscompares)
    if (one.result_id == result && (!row || one.row == *row)) return &one;
  return nullptr;
}

std::optional<Level> level_in(const Report& report) {
  constexpr std::array<std::pair<std::string_view, Level>, 3> kLevels = {
      {{"quick", Level::quick}, {"nightly", Level::nightly}, {"soak", Level::soak}}};
  for (const auto& [name, level] : kLevels)
    if (report.launch.level == name) return level;
  return std::nullopt;
}

std::vector<Op> rows_of(const Report& report, const ResultRow& result, const Case& which,
                        Level level) {
  if (which.rows == nullptr) return {};
  const bool together = which.scope == CaseScope::all_gpus;
  return which.rows(
      {.level = level,
       .seed = result.seed,
       .device = report.launch.is_virtual ? DeviceKind::virtual_device : DeviceKind::cuda,
       .rank = together ? result.gpu_id : 0,
       .ranks = together ? report.launch.gpus : 1});
}

// None where the row is no program, or is described in another way.
std::optional<Program> program_in(std::string_view parameters) try {
  return program_from_json(parameters, "parameters");
} catch (const Error&) {
  return std::nullopt;
}

// The run of the row, of two, that left this miscompare. Throws where neither has its parameters.
Op run_of(const Op& declared, std::uint64_t seed, std::uint32_t row, const Report& report,
          const MiscompareRow* wrong, const std::string& what) {
  // The transport, grid and size of a GEMM of several GPUs are the launch's, and no program is made
  // of it.
  if (!is_program(declared)) return seeded(declared, seed, row);
  for (std::uint32_t run = 0; run < runs_of(declared); ++run) {
    Op op = seeded(declared, seed, row, run == 1);
    if (wrong == nullptr || parameters_of(op) == report.text(wrong->parameters)) return op;
  }
  throw UsageError(
      fmt::format("{}: the report describes its row otherwise than this build does; replay it with "
                  "the build that wrote the report: tidemark {}, git {}",
                  what, report.launch.tool_version, provenance_of(report, "git_hash")));
}

std::uint32_t row_of(const MiscompareRow* first, std::optional<std::uint32_t> row, std::size_t rows,
                     const std::string& what) {
  if (rows == 0) throw UsageError(fmt::format("{}: has no rows in this build", what));
  const std::string choices = rows == 1 ? "row 0" : fmt::format("rows 0 to {}", rows - 1);
  if (!row && first == nullptr)
    throw UsageError(fmt::format("{}: the report names no row of it; choose one of {} with --row",
                                 what, choices));
  const std::uint32_t chosen = row.value_or(first == nullptr ? 0 : first->row);
  if (chosen >= rows)
    throw UsageError(fmt::format("{}: has no row {}; it has {}", what, chosen, choices));
  return chosen;
}

RebuiltRow row_of_this_build(const Report& report, const ResultRow& result,
                             const MiscompareRow* wrong, std::optional<std::uint32_t> row,
                             const std::string& what) {
  const Case* which = case_named(report.cases[result.case_id].name.view());
  const std::optional<Level> level = level_in(report);
  if (which == nullptr || !level)
    throw UsageError(
        fmt::format("{}: this build has no such {}; replay it with the build that "
                    "wrote the report ('tidemark show' names it)",
                    what, which == nullptr ? "case" : "level"));
  try {
    const std::vector<Op> rows = rows_of(report, result, *which, *level);
    // A GEMM of the size that the user gave is one row more.
    const std::size_t most = which->product == ProductUse::none
                                 ? rows.size()
                                 : std::max<std::size_t>(rows.size(), result.rows_planned);
    const std::uint32_t chosen = row_of(wrong, row, most, what);
    RebuiltRow made{.which = which, .row = chosen, .miscompare = wrong, .run_line = {}};
    made.run_line = replay_command(report, result, row ? std::optional(chosen) : std::nullopt);
    made.op = run_of(rows[std::min<std::size_t>(chosen, rows.size() - 1)], result.seed, chosen,
                     report, wrong, fmt::format("{} row {}", what, chosen));
    // Behind an error that has to come nothing can be compared.
    if (which->expected_error == nullptr) made.program = program_in(parameters_of(made.op));
    return made;
  } catch (const Error& error) {
    throw UsageError(fmt::format("{}: {}", what, error.what()));
  }
}

}  // namespace

RebuiltRow rebuilt_row(const Report& report, const std::string& name, std::uint32_t result_id,
                       std::optional<std::uint32_t> row) {
  if (report.results.empty()) throw UsageError(fmt::format("{}: has no results", name));
  if (result_id >= report.results.size())
    throw UsageError(
        fmt::format("{}: has no result {}; it has results 0 to {}; those that did not pass: "
                    "tidemark show {}",
                    name, result_id, report.results.size() - 1, shell_word(name)));
  const ResultRow& result = report.results[result_id];
  const std::string_view case_name = report.cases[result.case_id].name.view();
  const MiscompareRow* const wrong = first_miscompare(report, result_id, row);
  try {
    return row_of_this_build(report, result, wrong, row,
                             fmt::format("{}: result {} ({})", name, result_id, case_name));
  } catch (const UsageError&) {
    const Case* which = case_named(case_name);
    const bool ends_in_error = which != nullptr && which->expected_error != nullptr;
    if (wrong == nullptr || ends_in_error) throw;
    std::optional<Program> stored = program_in(report.text(wrong->parameters));
    if (!stored) throw;
    return {.row = wrong->row, .miscompare = wrong, .program = std::move(stored), .run_line = {}};
  }
}

bool has_program(const Report& report, std::uint32_t result) {
  try {
    return rebuilt_row(report, "", result, std::nullopt).program.has_value();
  } catch (const UsageError&) {
    return false;
  }
}

std::string fault_of(const Report& report, std::uint32_t result) {
  std::istringstream words{std::string(report.text(report.results.at(result).replay))};
  for (std::string word; words >> word;)
    if (word == "--fault" && words >> word) return word;
  return "";
}

}  // namespace tidemark
