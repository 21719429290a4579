// What can come of one planned result. Names and order are part of the schema.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tidemark::reports {

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

}  // namespace tidemark::reports
