// From verdicts to the exit code; README.md of this folder holds the table.
#include "harness/exit_code.hpp"

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <vector>

namespace tidemark {
namespace {

bool any(const VerdictCounts& counts, std::initializer_list<Verdict> verdicts) {
  return std::any_of(verdicts.begin(), verdicts.end(), [&](Verdict verdict) {
    return counts[static_cast<std::size_t>(verdict)] > 0;
  });
}

// From what hides everything else to what hides nothing: a bug of ours makes all else doubtful.
constexpr std::array kByPriority = {
    ExitCode::internal,   ExitCode::usage,      ExitCode::environment,  ExitCode::failed,
    ExitCode::incomplete, ExitCode::regression, ExitCode::inconclusive,
};

}  // namespace

ExitCode exit_code(const VerdictCounts& counts, std::uint64_t planned, bool complete, bool strict) {
  std::vector<ExitCode> codes;
  if (any(counts,
          {Verdict::fail, Verdict::flaky, Verdict::hang, Verdict::crash, Verdict::sticky}) ||
      (strict && any(counts, {Verdict::unexpected_pass}))) {
    codes.push_back(ExitCode::failed);
  }
  const std::uint64_t sum = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  if (!complete || sum != planned ||
      any(counts,
          {Verdict::not_run, Verdict::gpu_lost, Verdict::unkillable, Verdict::tool_error})) {
    codes.push_back(ExitCode::incomplete);
  }
  // Environment goes before failed and incomplete, so it is asked only where neither holds:
  // nothing was shown at all, and that is never a pass.
  if (codes.empty() && !any(counts, {Verdict::pass, Verdict::unexpected_pass})) {
    codes.push_back(ExitCode::environment);
  }
  return worst(codes);
}

ExitCode worst(std::span<const ExitCode> codes) {
  for (const ExitCode code : kByPriority) {
    if (std::find(codes.begin(), codes.end(), code) != codes.end()) return code;
  }
  return ExitCode::ok;
}

}  // namespace tidemark
