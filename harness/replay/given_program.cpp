// Reads and bounds programs: a file may come from anywhere, and ask for more memory than there is.
#include "harness/replay/given_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <sstream>
#include <utility>
#include <variant>
#include <vector>

#include "harness/base/errors.hpp"
#include "harness/base/output.hpp"
#include "kernels/error.hpp"
#include "kernels/ops/program/checks.hpp"
#include "kernels/ops/program/program_json.hpp"
#include "kernels/ops/tensor_map.hpp"
#include "reports/base/disk.hpp"
#include "reports/store/report.hpp"
#include "suite/runner.hpp"

namespace tidemark {
namespace {

constexpr std::size_t kMostFileBytes = std::size_t{16} << 20;
constexpr std::size_t kMostSteps = 10'000;
constexpr std::uint32_t kMostWindow = 232'448;  // shared memory of a CTA on sm_90
/// A result travels as hexadecimal text in a message of at most 64 MiB.
constexpr std::uint64_t kMostResultBytes = std::uint64_t{24} << 20;

// Bytes that a device hands back: regions and snapshots.
std::uint64_t result_bytes(const Program& program) {
  std::uint64_t bytes = 0;
  for (const Region& region : program.regions) {
    if (region.bytes > kMostResultBytes) return region.bytes;  // their sum could wrap
    bytes += region.bytes;
  }
  for (const Step& step : program.steps)
    if (step.verb == Verb::snapshot)
      bytes += std::uint64_t{program.window} * static_cast<unsigned>(std::popcount(step.ctas));
  return bytes;
}

std::string too_large(const Program& program) {
  if (program.window > kMostWindow)
    return fmt::format("a window of {} bytes; take at most {}", program.window, kMostWindow);
  if (program.steps.size() > kMostSteps)
    return fmt::format("{} steps with its checks; take at most {}", program.steps.size(),
                       kMostSteps);
  if (const std::uint64_t bytes = result_bytes(program); bytes > kMostResultBytes)
    return fmt::format("{} bytes of regions and snapshots; take at most {}", bytes,
                       kMostResultBytes);
  return "";
}

/// What no tensor map can be: the driver would not be at fault.
std::string unfit_map(const Program& program) {
  for (std::size_t i = 0; i < program.maps.size(); ++i) {
    const TensorMapSpec& spec = program.maps[i].spec;
    const std::string why = spec.bulk ? "" : refusal_of(spec);
    if (!why.empty()) return fmt::format("map {}: {}", i, why);
  }
  return "";
}

// Throws where the program cannot be run, checks or not.
void check(const Program& program, const std::string& name) {
  std::string why = unfit_map(program);
  if (!why.empty()) throw UsageError(fmt::format("{}: {}", name, why));
  why = unsound(program);
  constexpr std::string_view kPrefix = "program: ";
  if (why.starts_with(kPrefix)) why.erase(0, kPrefix.size());
  if (!why.empty()) throw UsageError(fmt::format("{}: the program is not sound: {}", name, why));
  why = too_large(program);
  if (!why.empty()) throw UsageError(fmt::format("{}: the program is too large: {}", name, why));
}

// Of the steps of the file, where these are why: the checks move them.
std::string why_not(const Program& plain, const Error& with_checks) {
  try {
    (void)predict(plain);
  } catch (const Error& error) {
    return error.what();
  }
  return with_checks.what();
}

}  // namespace

PreparedProgram prepared(Program program, const std::string& name) {
  check(program, name);
  PreparedProgram made{.program = std::move(program), .checked = {}, .expected = {}};
  made.checked = with_checks(made.program);
  check(made.checked, name);
  try {
    made.expected = predict(made.checked);
  } catch (const Error& error) {
    throw UsageError(
        fmt::format("{}: the oracle cannot predict it: {}", name, why_not(made.program, error)));
  }
  return made;
}

Program given_program(const std::string& path) {
  const std::string text = file_text(path, kMostFileBytes, path, "give a program's file");
  try {
    return program_from_json(text, path);
  } catch (const Error& refused) {
    throw UsageError(refused.what());
  }
}

// Delta debugging: large cuts first, since most steps have no part in a failure.

namespace {

using Fails = std::function<bool(const Program&)>;

std::ptrdiff_t syncs_of(const Program& program) {
  return std::count_if(program.steps.begin(), program.steps.end(),
                       [](const Step& step) { return step.verb == Verb::cluster_sync; });
}

class Minimizer {
 public:
  Minimizer(Program program, const Fails& fails) : program_(std::move(program)), fails_(fails) {}

  Program result() {
    while (cut_steps() || simplify_steps() || simplify_memory()) {
    }
    return std::move(program_);
  }

 private:
  /// Keeps the candidate where it is another program, and fails. Without a cluster_sync CTAs could
  /// race on a GPU, and the candidate fail for that.
  bool keep(Program candidate) {
    if (candidate == program_ || runs_ == kMostMinimizingRuns) return false;
    if (ctas_of(candidate) > 1 && syncs_of(candidate) < syncs_of(program_)) return false;
    ++runs_;
    if (!fails_(candidate)) return false;
    program_ = std::move(candidate);
    return true;
  }

  bool cut_steps() {
    bool cut = false;
    for (std::size_t run = std::bit_floor(program_.steps.size()); run > 0; run /= 2)
      for (std::size_t at = program_.steps.size(); at-- > 0;) {
        if (at + run > program_.steps.size()) continue;
        Program candidate = program_;
        const auto first = candidate.steps.begin() + static_cast<std::ptrdiff_t>(at);
        candidate.steps.erase(first, first + static_cast<std::ptrdiff_t>(run));
        cut = keep(std::move(candidate)) || cut;
      }
    return cut;
  }

  bool simplify_steps() {
    // `bytes`, `pending` and the like say what a step does; without them it would be another one.
    static constexpr std::array<void (*)(Step&), 8> kSimpler = {
        [](Step& step) { step.hint = CacheHint::none; },
        [](Step& step) { step.reduction = Reduction::none; },
        [](Step& step) { step.thread = 0; },
        [](Step& step) { step.count = 1; },
        [](Step& step) { step.mask = 0; },
        [](Step& step) { step.of = kOwnCta; },
        [](Step& step) { step.at = {}; },
        [](Step& step) { step.ctas = static_cast<std::uint16_t>(step.ctas & -step.ctas); },
    };
    bool simpler = false;
    for (const auto& simplify : kSimpler)
      for (std::size_t i = 0; i < program_.steps.size(); ++i) {
        Program candidate = program_;
        simplify(candidate.steps[i]);
        simpler = keep(std::move(candidate)) || simpler;
      }
    return simpler;
  }

  bool simplify_memory() {
    static constexpr std::array<void (*)(Program&), 10> kSimpler = {
        [](Program& p) {
          p.cluster = {1, 1, 1};
        },
        [](Program& p) { p.barriers -= std::min(p.barriers, 1U); },
        [](Program& p) {
          if (!p.maps.empty()) p.maps.pop_back();
        },
        [](Program& p) {
          if (!p.products.empty()) p.products.pop_back();
        },
        [](Program& p) {
          if (!p.regions.empty()) p.regions.pop_back();
        },
        [](Program& p) {
          for (Region& region : p.regions) region.cold = false;
        },
        [](Program& p) {
          for (Region& region : p.regions)
            if (region.islands.empty()) region.source = MemorySource::device;
        },
        [](Program& p) {
          for (Map& map : p.maps) map.spec.l2_promotion = L2Promotion::none;
        },
        [](Program& p) {
          for (Map& map : p.maps) map.spec.swizzle = Swizzle::none;
        },
        [](Program& p) { p.payload.inverted = false; },
    };
    bool simpler = false;
    for (const auto& simplify : kSimpler) {
      Program candidate = program_;
      simplify(candidate);
      simpler = keep(std::move(candidate)) || simpler;
    }
    return simpler;
  }

  Program program_;
  const Fails& fails_;
  int runs_ = 0;
};

}  // namespace

Program minimized(Program program, const Fails& fails) {
  return Minimizer(std::move(program), fails).result();
}

// Makes the rows of a case again and takes one.

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
