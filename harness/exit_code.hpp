// The exit code follows from the verdicts alone.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "reports/schema/verdict.hpp"

namespace tidemark {

struct Report;

enum class ExitCode : int {
  ok = 0,
  failed = 1,  // fail, flaky, hang, crash, sticky
  usage = 2,
  regression = 3,
  incomplete = 4,   // not_run, gpu_lost, unkillable, tool_error, a silent rank
  environment = 5,  // no usable GPU, nothing but skips
  inconclusive = 6,
  internal = 70,
};

/// What a code means, in one line.
struct ExitCodeMeaning {
  ExitCode code;
  std::string_view text;
};

/// All codes by number, as help and man page print them.
std::span<const ExitCodeMeaning> exit_code_meanings();

/// "70, 2, 5, 1, 4, 3, 6": of several codes the first counts.
std::string exit_code_priority();

/// One count a verdict, in the order of the enum.
using VerdictCounts = std::array<std::uint64_t, kVerdicts>;

VerdictCounts counts_of(const Report& report);

/// The code for a launch: planned must equal the sum of the counts, or it is incomplete.
ExitCode exit_code(const VerdictCounts& counts, std::uint64_t planned, bool complete, bool strict);

/// The same of what a report holds.
ExitCode exit_code(const Report& report, bool strict);

/// "PASS", "FAIL", "NOTHING RUN" or "INCOMPLETE": what a run ended with.
std::string_view word_of(ExitCode code);

/// The one that counts when several hold: the first of exit_code_priority().
ExitCode worst(std::span<const ExitCode> codes);

}  // namespace tidemark
