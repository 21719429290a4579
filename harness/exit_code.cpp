// From verdicts to the exit code; README.md of this folder holds the table.
#include "harness/exit_code.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "reports/schema/verdict_kinds.hpp"

namespace tidemark::harness {
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

}  // namespace

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

ExitCode worst(std::span<const ExitCode> codes) {
  for (const ExitCode code : kByPriority) {
    if (std::find(codes.begin(), codes.end(), code) != codes.end()) return code;
  }
  return ExitCode::ok;
}

}  // namespace tidemark::harness
