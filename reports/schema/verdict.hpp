// What can come of one planned result. Names and order are part of the schema.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tidemark {
enum class Verdict : std::uint8_t {
  pass,
  fail,
  flaky,
  hang,
  crash,
  sticky,
  gpu_lost,
  unkillable,
  tool_error,
  skip,
  waived,
  unexpected_pass,
  not_run,
};
inline constexpr std::size_t kVerdicts = 13;

inline constexpr std::array<std::string_view, kVerdicts> kVerdictNames = {
    "pass",       "fail",       "flaky", "hang",   "crash",           "sticky", "gpu_lost",
    "unkillable", "tool_error", "skip",  "waived", "unexpected_pass", "not_run"};

constexpr std::string_view name_of(Verdict verdict) {
  return kVerdictNames[static_cast<std::size_t>(verdict)];
}

constexpr std::optional<Verdict> verdict_named(std::string_view name) {
  for (std::size_t i = 0; i < kVerdicts; ++i) {
    if (kVerdictNames[i] == name) return static_cast<Verdict>(i);
  }
  return std::nullopt;
}

// What verdicts have in common; exit codes, renderings and waivers ask here and keep no lists.

/// The GPU did something wrong, and is there.
constexpr bool is_failure(Verdict verdict) {
  switch (verdict) {
    case Verdict::fail:
    case Verdict::flaky:
    case Verdict::hang:
    case Verdict::crash:
    case Verdict::sticky:
      return true;
    default:
      return false;
  }
}

/// It ran to its end and nothing was wrong, whatever a waiver expected: its numbers count.
constexpr bool has_passed(Verdict verdict) {
  return verdict == Verdict::pass || verdict == Verdict::unexpected_pass;
}

/// A failure, or a pass where a strict launch waived one.
constexpr bool is_bad(Verdict verdict) {
  return is_failure(verdict) || verdict == Verdict::unexpected_pass;
}

/// The GPU was gone, whatever else was seen of the case.
constexpr bool is_lost(Verdict verdict) {
  return verdict == Verdict::gpu_lost || verdict == Verdict::unkillable;
}

/// Nothing is known though it was planned.
constexpr bool is_lacking(Verdict verdict) {
  return is_lost(verdict) || verdict == Verdict::tool_error || verdict == Verdict::not_run;
}

/// Nobody has to be alarmed by it.
constexpr bool is_quiet(Verdict verdict) {
  return verdict == Verdict::skip || verdict == Verdict::waived || verdict == Verdict::not_run;
}

/// It says nothing about the hardware, so that cases may be told in one list. What is waived is a
/// failure all the same, with a case, miscompares and a replay line.
constexpr bool is_listed(Verdict verdict) {
  return is_quiet(verdict) && verdict != Verdict::waived;
}

/// What goes wrong first, then what did not run, passes last: ascending.
constexpr int rank_of(Verdict verdict) {
  constexpr int kAll = static_cast<int>(kVerdicts);
  if (verdict == Verdict::pass) return 2 * kAll;
  return static_cast<int>(verdict) + (is_quiet(verdict) ? kAll : 0);
}

}  // namespace tidemark
