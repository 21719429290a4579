// From verdicts to the exit code; README.md of this folder holds the table.
#include "harness/exit_code.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include <fmt/ranges.h>

#include "reports/schema/verdict.hpp"
#include "reports/store/report.hpp"

namespace tidemark {
namespace {

/// Whether any result has a verdict of this kind.
bool any(const VerdictCounts& counts, bool (*of_kind)(Verdict)) {
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0 && of_kind(static_cast<Verdict>(i))) return true;
  }
  return false;
}

bool is_pass(Verdict verdict) {
  return verdict == Verdict::pass || verdict == Verdict::unexpected_pass;
}

// From what hides everything else to what hides nothing: a bug of ours makes all else doubtful.
constexpr std::array kByPriority = {
    ExitCode::internal,   ExitCode::usage,      ExitCode::environment,  ExitCode::failed,
    ExitCode::incomplete, ExitCode::regression, ExitCode::inconclusive,
};

constexpr std::array<ExitCodeMeaning, 8> kMeanings = {{
    {ExitCode::ok, "every planned result is pass, waived or skip, and at least one is a pass"},
    {ExitCode::failed,
     "a case failed, was flaky, hung, crashed or left a sticky CUDA error; compare: newly so; "
     "selftest: not noticed"},
    {ExitCode::usage,
     "usage: an unknown option or name, an output that cannot be written, not a report"},
    {ExitCode::regression,
     "compare: slower, or another of the findings that --fail-on names; run, show: an outlier GPU"},
    {ExitCode::incomplete,
     "something has no answer: it did not run, a GPU was lost, a rank is silent; compare: missing; "
     "export: a host left out"},
    {ExitCode::environment,
     "environment: no usable GPU, a GPU in use, more ranks than GPUs, no rank started, nothing but "
     "skips; doctor: a check failed"},
    {ExitCode::inconclusive, "compare: inconclusive (--fail-on inconclusive)"},
    {ExitCode::internal, "a bug of tidemark"},
}};
static_assert(kMeanings.size() == kByPriority.size() + 1, "ok alone has no priority");

}  // namespace

std::span<const ExitCodeMeaning> exit_code_meanings() { return kMeanings; }

std::string exit_code_priority() {
  std::vector<int> codes;
  codes.reserve(kByPriority.size());
  for (const ExitCode code : kByPriority) codes.push_back(static_cast<int>(code));
  return fmt::format("{}", fmt::join(codes, ", "));
}

ExitCode exit_code(const VerdictCounts& counts, std::uint64_t planned, bool complete, bool strict) {
  std::vector<ExitCode> codes;
  if (any(counts, strict ? is_bad : is_failure)) {
    codes.push_back(ExitCode::failed);
  }
  const std::uint64_t sum = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  if (!complete || sum != planned || any(counts, is_lacking)) {
    codes.push_back(ExitCode::incomplete);
  }
  // Environment goes before failed and incomplete, so it is asked only where neither holds:
  // nothing was shown at all, and that is never a pass.
  if (codes.empty() && !any(counts, is_pass)) {
    codes.push_back(ExitCode::environment);
  }
  return worst(codes);
}

VerdictCounts counts_of(const Report& report) {
  VerdictCounts counts{};
  for (const ResultRow& result : report.results) {
    ++counts.at(static_cast<std::size_t>(result.verdict));
  }
  return counts;
}

ExitCode exit_code(const Report& report, bool strict) {
  return exit_code(counts_of(report), std::uint64_t{report.cases.size()} * report.launch.gpus,
                   report.launch.complete, strict);
}

std::string_view word_of(ExitCode code) {
  switch (code) {
    case ExitCode::ok:
      return "PASS";
    case ExitCode::failed:
      return "FAIL";
    case ExitCode::environment:
      return "NOTHING RUN";
    default:
      return "INCOMPLETE";
  }
}

ExitCode worst(std::span<const ExitCode> codes) {
  for (const ExitCode code : kByPriority) {
    if (std::find(codes.begin(), codes.end(), code) != codes.end()) return code;
  }
  return ExitCode::ok;
}

}  // namespace tidemark
