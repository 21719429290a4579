// A comparison for others than a terminal: a page, Markdown, CSV, JUnit XML.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include "reports/compare/comparison.hpp"

namespace tidemark::reports {

/// One page that needs nothing else: what changed with replay lines, a map of nodes (up to 32 GPUs:
/// of GPUs) and cases, a strip plot a metric, every number, what else differs. `all` lifts the
/// caps.
std::string comparison_html(const Comparison& comparison, bool all);

/// The same in short, less than 60,000 bytes.
std::string comparison_markdown(const Comparison& comparison);

/// A line each case and GPU, then a line each metric, then a line each metric of each GPU that
/// changed unlike the others.
std::string comparison_csv(const Comparison& comparison);

/// A test each kind of finding and a test each case. What `fail_on` names (as findings_of has it)
/// is a failure, what is missing an error; what is found and not named there is skipped, as is
/// everything of the virtual device.
std::string comparison_junit(const Comparison& comparison, const std::set<std::string>& fail_on);

}  // namespace tidemark::reports
