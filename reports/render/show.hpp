// Reports, comparisons and histories in every format, and documents in those that people read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reports/document/comparison/document.hpp"
#include "reports/document/history/document.hpp"
#include "reports/document/report/document.hpp"
#include "reports/store/report.hpp"

namespace tidemark {

/// Lines of at most `columns` printable characters; `colour`: with escapes for it.
std::string terminal_of(const Document& document, const ShowOptions& options);

/// Blocks alone.
std::string terminal_of(const std::vector<Block>& blocks, const ShowOptions& options);

/// What GitHub takes as a comment is 65,536 bytes; a little is left for what is put around it.
inline constexpr std::size_t kMostMarkdownBytes = 60'000;

/// Less than that, for a comment of a code review. Text of reports stands in code spans.
std::string markdown_of(const Document& document, const ShowOptions& options = {});

/// One page that needs nothing but itself. Of a report nothing but escaped text goes in, and a
/// Content-Security-Policy lets the page load nothing and run no script but its own.
std::string html_of(const Document& document, const ShowOptions& options = {});

/// A format: how options name it, and what writes it. A new one is its writer and a row of
/// formats(); each verb has the option.
struct Format {
  std::string_view name;     // "json": --json
  std::string_view meaning;  // of that option
  std::string (*write)(const Views& views, const ShowOptions& options);
};
inline constexpr std::string_view kTerminal = "terminal";  // the first: without any option
std::span<const Format> formats();

/// In the format of that name.
std::string written(const Views& views, const ShowOptions& options, std::string_view format);

/// On a terminal verdicts first, then what failed, where, why and how to replay it, then the GEMM
/// table, then what the report was made on. Text from the report is made printable first.
inline std::string show(const Report& report, const ShowOptions& options,
                        std::string_view format = kTerminal) {
  return written(views_of(report, options), options, format);
}
inline std::string show_comparison(const Comparison& comparison, const ShowOptions& options,
                                   std::string_view format = kTerminal) {
  return written(views_of(comparison, options), options, format);
}
inline std::string show_history(const History& history, const ShowOptions& options,
                                std::string_view format = kTerminal) {
  return written(views_of(history, options), options, format);
}

/// What was measured, and nothing else, as show() has it on a terminal. Empty where nothing was.
std::string show_metrics(const Report& report, const ShowOptions& options);

/// Every number behind the verdicts on one case. Throws ReportError where no report has it.
std::string explain_case(const Comparison& comparison, std::string_view name,
                         std::uint32_t columns);

}  // namespace tidemark
