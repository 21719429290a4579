// The two phases of a launch: what each GPU does on its own, then what all do together.
#include "harness/supervisor/phases.hpp"

#include <utility>

namespace tidemark::harness {

Ending waiter_ending(Ending waiter, const std::string& culprit) {
  if (culprit.empty()) return waiter;
  waiter.reason = culprit + "; " + waiter.reason;
  const Outcome& outcome = *waiter.outcome;
  // The row that waited counts among them.
  if (outcome.rows_failed > 1) {
    waiter.verdict = Verdict::fail;
    return waiter;
  }
  waiter.verdict = Verdict::not_run;
  waiter.rows_planned = outcome.rows_planned;
  waiter.rows_run = outcome.rows_run - outcome.rows_failed;
  waiter.outcome.reset();
  return waiter;
}

}  // namespace tidemark::harness
