// Reports, comparisons and histories in every format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "reports/document/comparison/document.hpp"
#include "reports/document/comparison/told.hpp"
#include "reports/document/history/document.hpp"
#include "reports/document/show_options.hpp"
#include "reports/store/report.hpp"

namespace tidemark::reports {

// A report as text: for a terminal, for programs, for other pages.

/// In the format asked for. On a terminal verdicts first, then what failed, where, why and how to
/// replay it, then the GEMM table, then what the report was made on. Text from the report is made
/// printable first.
std::string show(const Report& report, const ShowOptions& options);

/// What was measured, and nothing else, as show() has it on a terminal. Empty where nothing was.
std::string show_metrics(const Report& report, const ShowOptions& options);

// A comparison in every format.

/// In the format asked for.
std::string show_comparison(const Comparison& comparison, const ShowOptions& options);

/// Every number behind the verdicts on one case. Throws ReportError where no report has it.
std::string explain_case(const Comparison& comparison, std::string_view name,
                         std::uint32_t columns);

// A history in every format.

/// In the format asked for.
std::string show_history(const History& history, const ShowOptions& options);

}  // namespace tidemark::reports
