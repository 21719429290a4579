// Which cases a launch runs, in which order.
#pragma once

#include <vector>

#include "harness/command_line/launch_options.hpp"
#include "reports/base/words.hpp"
#include "reports/journal/record.hpp"
#include "suite/case.hpp"

namespace tidemark {

struct Plan {
  std::vector<const Case*> one_gpu;   // conformance first, then benchmarks; by name
  std::vector<const Case*> all_gpus;  // the same
};

/// The cases the user chose, before benchmarks bring others along, in the order of a plan.
/// Throws as make_plan does.
std::vector<const Case*> selected_cases(const LaunchOptions& options);

/// The cases that match any of `cases` (all when empty), none of `exclude`, and the level; of
/// `bench` the benchmarks among them. A chosen benchmark takes its `correct_by` case with it.
/// Throws UsageError for a glob that matches no case at all, with the nearest names, and when
/// nothing is left, when --row is given and not exactly one case is chosen, when --slow names
/// what is no benchmark of this plan, and when --transport, --grid or --n would change nothing.
Plan make_plan(const LaunchOptions& options);

/// The plan of launch `number` of several, from 1: the benchmarks of each phase in an order drawn
/// from the seed and that number, so that what follows on what is not the same in all launches.
Plan shuffled(Plan plan, std::uint64_t seed, std::uint32_t number);

/// Throws UsageError where --row is given and the chosen case has no such row in this context.
void check_row(const LaunchOptions& options, const RunContext& context);

std::vector<PlannedCase> planned_cases(const Plan& plan);

}  // namespace tidemark
