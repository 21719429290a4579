// What comes of a case: its verdict, miscompares, metrics and observations.
#pragma once

#include <fmt/format.h>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernels/device.hpp"

namespace tidemark {

// What came of one case on one device.

/// What the suite can say itself; hangs, crashes and lost GPUs are said by the supervisor.
enum class Judgement : std::uint8_t {
  pass,
  fail,
  sticky,
  timeout,
  others_late,  // DeviceFault's: this GPU need not be at fault
  tool_error,
  skip
};

/// One wrong thing in one row: a byte, or what a barrier was seen to do.
struct Miscompare {
  std::uint32_t row = 0;   // index into the case's rows
  std::string parameters;  // of the row, one line of JSON
  std::string what;        // "byte", "guard", "source", "C", "barrier: credited", ...
  std::array<std::int64_t, 5>
      coordinate{};                // in the tensor (element), as far as it has a place there
  std::uint64_t first_offset = 0;  // of the first wrong byte in what was compared
  std::uint64_t wrong_bytes = 0;   // in this row
  std::uint64_t expected = 0, actual = 0;  // at first_offset
  std::string text;  // one line for a person: "element (3, 7): expected 0x00, got 0x5a; ..."
};

/// A measured quantity with every sample behind it.
struct Metric {
  std::string name;  // "rate", "exchange", ...
  std::string unit;  // "TFLOP/s", "ms", "ratio"
  bool higher_is_better = true;
  std::vector<double> values;     // one a sample
  std::vector<double> at_unix_s;  // when each sample ended
  std::vector<double> seconds;    // how long each took
};

struct Outcome {
  Judgement judgement = Judgement::pass;
  std::string reason;           // one line; empty for a pass
  std::int32_t cuda_error = 0;  // the sticky error that came, also where it had to; 0 without one
  /// This process cannot use the device for another case: a sticky error, a kernel that never
  /// ended, or a transport that was aborted. Says nothing about the verdict.
  bool device_spent = false;
  /// Rows that shared the launch which spent the device: one of them did it, and which is known
  /// when each runs alone (RunCaseOptions::alone). 0 where the row is known.
  std::uint32_t suspects = 0;
  std::uint32_t rows_planned = 0, rows_run = 0, rows_failed = 0;
  std::uint32_t rows_left =
      0;  // behind the one that spent the device: another process can run them
  /// By SM: rows that visited it with any of their runs or CTAs, and how many of those failed. Each
  /// is as long as its highest SM needs. A row whose SMs are not known counts nowhere, nor does one
  /// that runs alone: it always finds the same SMs, so that they say nothing.
  std::vector<std::uint32_t> sm_rows_run, sm_rows_failed;
  /// By SM, 0 where not known: cycles of a load of 16 bytes, alone on its SM; and what bulk copies
  /// from L2 bring while all SMs copy, GB/s.
  std::vector<double> sm_latency, sm_rate;
  std::vector<Miscompare> miscompares;  // the first kKeptMiscompares
  std::vector<Metric> metrics;
  std::vector<std::string> notes;  // distinct RunResult::notes, at most kKeptNotes
  std::vector<DriverAnswer> answers;
  /// FNV-1a 64 over the tensor maps of all rows, in order, each without the tensor's address (its
  /// first 8 bytes), so that it is the same in every process; 0 without any. Of rows that ran in
  /// processes of their own: a mix of theirs.
  std::uint64_t descriptors = 0;
};

inline constexpr std::size_t kKeptMiscompares = 16, kKeptNotes = 32;

/// Makes `judgement` that of `outcome` where it is graver: pass, skip, fail, others_late, timeout,
/// tool_error, sticky. False where it is not.
bool worsen(Outcome& outcome, Judgement judgement, const std::string& reason);

/// Adds what rows came to in a process of their own to what rows before them came to, as if all had
/// run in one. `all.rows_planned` is left to the caller.
void add_rows(const Outcome& rows, Outcome& all);

// What runs of a case were seen to do that nobody judges, counted by its wording.

class Observations {
 public:
  /// Counts one run; nothing where `words` are empty.
  void add(const std::string& words) {
    if (!words.empty()) ++runs_[words];
  }

  /// "all had landed (12 runs)", in the order of the words.
  std::vector<std::string> notes() const {
    std::vector<std::string> notes;
    for (const auto& [words, runs] : runs_)
      notes.push_back(fmt::format("{} ({} {})", words, runs, runs == 1 ? "run" : "runs"));
    return notes;
  }

 private:
  std::map<std::string, std::uint32_t> runs_;
};

}  // namespace tidemark
