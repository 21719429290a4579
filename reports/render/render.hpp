// A document in each of the formats that people read.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reports/document/document.hpp"

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

}  // namespace tidemark::reports
