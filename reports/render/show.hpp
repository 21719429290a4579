// Reports, comparisons and histories in every format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reports/document/comparison/document.hpp"
#include "reports/document/comparison/wording.hpp"
#include "reports/document/document.hpp"
#include "reports/document/history/document.hpp"
#include "reports/store/report.hpp"

namespace tidemark::reports {

// Test suites as JUnit XML, for the CI systems that read it.

/// The document. Text is escaped here and may hold anything.
std::string junit_of(const std::string& name, const std::vector<TestSuite>& suites);

// Reports, comparisons and histories in every format.

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
