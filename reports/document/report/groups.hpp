// Results that say the same, and what points at sick hardware.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reports/schema/verdict.hpp"
#include "reports/store/report.hpp"

namespace tidemark::reports {

// Results that say the same, together: what every rendering of a report lists.

/// SMs that a text names: " [SM 17]", or " [SM 4, 17]" where there are several.
/// A text and the SMs that it names, apart: GPUs that fail alike fail on different SMs.
struct NamedSms {
  std::string text;                // without the SMs
  std::vector<std::uint32_t> sms;  // in the order of the text
};
NamedSms named_sms(std::string_view text);

/// Results of one verdict and one reason, whichever SMs it names: of one case, or of several where
/// the verdict says nothing about the hardware (skip, not_run).
struct ResultGroup {
  Verdict verdict = Verdict::pass;
  std::string reason;                      // with the SMs of all results
  std::vector<std::uint32_t> results;      // rows of `results`, ascending
  std::vector<std::uint32_t> cases;        // ascending, without doubles
  std::vector<std::uint32_t> gpus;         // the same
  std::vector<std::uint32_t> miscompares;  // rows of `miscompares` of the first result
};

/// Groups in the order a person wants them: what went wrong, what did not run, then passes.
std::vector<ResultGroup> result_groups(const Report& report, bool with_passes);

// What a person wants to know of a night beside its verdicts: sick hardware, and the time it took.

/// Which GPUs and ranks the launch did without, and why, a line each (events from kLeftOut).
std::vector<std::string_view> left_out_of(const Report& report);

/// What left_out_of() names, then one line a GPU at which something was seen
/// that only its hardware can explain: Xid and other events, memory errors that were not corrected,
/// rows of memory to be remapped, clocks held down by heat or power brakes during results. Most
/// evidence first.
std::vector<std::string> hardware_lines(const Report& report);

/// How long the launch took and, of several GPUs, which was the slowest:
/// seconds in its results. Empty where no result
/// has a time.
std::string time_line(const Report& report);

}  // namespace tidemark::reports
