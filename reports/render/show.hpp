// Reports, comparisons and histories in every format, and documents in those that people read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reports/document/comparison/document.hpp"
#include "reports/document/document.hpp"
#include "reports/document/history/document.hpp"
#include "reports/store/report.hpp"

namespace tidemark::reports {

/// Lines of at most `columns` printable characters; `colour`: with escapes for it.
std::string terminal_of(const Document& document, const ShowOptions& options);

/// Blocks alone.
std::string terminal_of(const std::vector<Block>& blocks, const ShowOptions& options);

/// What GitHub takes as a comment is 65,536 bytes; a little is left for what is put around it.
inline constexpr std::size_t kMostMarkdownBytes = 60'000;

/// Less than that, for a comment of a code review. Text of reports stands in code spans.
std::string markdown_of(const Document& document);

/// One page that needs nothing but itself. Of a report nothing but escaped text goes in, and a
/// Content-Security-Policy lets the page load nothing and run no script but its own.
std::string html_of(const Document& document, bool all = false);

/// In the format asked for: terminal, Markdown or HTML.
std::string rendered(const Document& document, const ShowOptions& options);

/// Test suites as JUnit XML, for the CI systems that read it. Text is escaped here and may hold
/// anything.
std::string junit_of(const std::string& name, const std::vector<TestSuite>& suites);

/// In the format asked for. On a terminal verdicts first, then what failed, where, why and how to
/// replay it, then the GEMM table, then what the report was made on. Text from the report is made
/// printable first.
std::string show(const Report& report, const ShowOptions& options);

/// What was measured, and nothing else, as show() has it on a terminal. Empty where nothing was.
std::string show_metrics(const Report& report, const ShowOptions& options);

/// In the format asked for.
std::string show_comparison(const Comparison& comparison, const ShowOptions& options);

/// Every number behind the verdicts on one case. Throws ReportError where no report has it.
std::string explain_case(const Comparison& comparison, std::string_view name,
                         std::uint32_t columns);

/// In the format asked for.
std::string show_history(const History& history, const ShowOptions& options);

}  // namespace tidemark::reports
