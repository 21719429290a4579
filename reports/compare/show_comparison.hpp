// A comparison as text for a terminal, as JSON, and every number behind one case.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "reports/compare/comparison.hpp"
#include "reports/compare/told.hpp"

namespace tidemark::reports {

struct ShowComparisonOptions {
  bool colour = false;
  bool all = false;  // what did not change, too, and nothing capped
  std::size_t columns = 100;
};

/// The verdict first, then what changed, then what else differs, then what could have been seen.
/// Under confounders the word "driver" stands in the list of differences alone.
std::string show_comparison(const Comparison& comparison, const ShowComparisonOptions& options);

/// Everything as JSON.
std::string comparison_json(const Comparison& comparison);

/// Every number behind the verdicts on one case. Throws ReportError where no report has it.
std::string explain_case(const Comparison& comparison, std::string_view name, std::size_t columns);

}  // namespace tidemark::reports
