// What `selftest` injects, and what has to come of it: one row an injection.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reports/schema/verdict.hpp"

namespace tidemark {

/// What is done beside the run itself.
enum class Deed : std::uint8_t {
  none,
  small_files,    // RLIMIT_FSIZE: no file of the run may be longer than 16 KiB, so no report
  full_stdout,    // stdout is /dev/full
  cut_journal,    // the end of a journal is cut off, then `recover`
  flip_journal,   // one bit of an outcome in a journal is flipped, then `recover`
  change_report,  // one bit of a report is flipped, at many places one by one, then `show`
  cut_report,     // the second half of a report is cut off, then `show`
};

/// What the end of a process means that mpirun or a signal ended: any code but 0.
inline constexpr int kAnyFailure = -1;

struct Expected {
  int exit = 1;
  std::string_view case_name = {};  // empty: there is no report to look at
  std::uint32_t gpu = 0;
  Verdict verdict = Verdict::fail;  // of that case on that GPU
  std::string_view next = {};       // a case behind it, which has to pass: the run goes on
  bool complete = true;             // the report
  std::string_view says = {};       // in its reasons, on stdout or on stderr
};

struct Injection {
  std::string_view name;
  std::string_view how;                    // for --list
  std::vector<std::string> arguments;      // of `run --device virtual`
  std::string_view fault = {}, hook = {};  // --fault, TIDEMARK_TEST_HOOK
  Deed deed = Deed::none;
  bool starts_ranks = false;  // needs mpirun
  Expected expected;
  bool injected = true;  // false: everything is done but the harm, for the test of selftest itself
};

/// In the order in which they run; names are unique.
std::span<const Injection> injections();

// Carries out one injection and looks at what came of it.

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

}  // namespace tidemark
