// Results that say the same, together: what every rendering of a report lists.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/store/report.hpp"

namespace tidemark::reports {

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

/// Whether nobody has to be alarmed by the verdict: skip, waived, not_run.
bool is_quiet(Verdict verdict);

/// Whether the verdict says nothing about the hardware, so that cases may be told in one list. What
/// is waived is a failure all the same, with a case, miscompares and a replay line.
bool is_listed(Verdict verdict);

/// What goes wrong first, then what did not run, passes last: ascending.
int rank_of(Verdict verdict);

}  // namespace tidemark::reports
