// Reads and bounds programs: a file may come from anywhere, and ask for more memory than there is.
#include "harness/replay/given_program.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "harness/base/errors.hpp"
#include "kernels/error.hpp"
#include "kernels/ops/program/checks.hpp"
#include "kernels/ops/program/program_json.hpp"
#include "kernels/ops/tensor_map_rules.hpp"
#include "reports/base/disk.hpp"

namespace tidemark::harness {
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
  const std::string text = reports::file_text(path, kMostFileBytes, path, "give a program's file");
  try {
    return program_from_json(text, path);
  } catch (const Error& refused) {
    throw UsageError(refused.what());
  }
}

}  // namespace tidemark::harness
