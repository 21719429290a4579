// Which cases a launch runs, in which order.
#pragma once

#include <vector>

#include "harness/options.hpp"
#include "reports/glob.hpp"
#include "reports/journal/record.hpp"
#include "suite/case.hpp"

namespace tidemark {

struct Plan {
  std::vector<const Case*> one_gpu;   // conformance first, then benchmarks; by name
  std::vector<const Case*> all_gpus;  // the same
  double seconds = 0;                 // expected, with all GPUs at work
};

/// The cases the user chose, before benchmarks bring others along, in the order of a plan.
/// Throws as make_plan does.
std::vector<const Case*> selected_cases(const RunOptions& options);

/// The cases that match any of `cases` (all when empty), none of `exclude`, and the level. A chosen
/// benchmark takes its `correct_by` case with it.
/// Throws UsageError for a glob that matches no case at all, with the nearest names, and when
/// nothing is left, and when --row is given and not exactly one case is chosen.
Plan make_plan(const RunOptions& options);

/// Throws UsageError where --row is given and the chosen case has no such row in this context.
void check_row(const RunOptions& options, const RunContext& context);

std::vector<PlannedCase> planned_cases(const Plan& plan);

}  // namespace tidemark
