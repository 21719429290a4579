// Carries out one injection and looks at what came of it.
#pragma once

#include <string>

#include "harness/selftest/injections.hpp"

namespace tidemark::harness {

enum class Notice {
  noticed,  // all came as expected
  missed,   // something else came
  broke,    // a process ended with 70, by a signal or not at all, where it should not have
  skipped,  // this machine cannot do it
};
std::string_view name_of(Notice notice);

struct Noticed {
  Notice notice = Notice::missed;
  std::string seen;  // "hang of load.tile.rank1, exit 1"; why it was skipped
};

/// What has to come, in the words of Noticed::seen.
std::string text_of(const Expected& expected);

/// Runs `program` (a tidemark) in a scratch folder, which is gone afterwards. Each process has a
/// deadline.
Noticed carry_out(const Injection& injection, const std::string& program);

}  // namespace tidemark::harness
