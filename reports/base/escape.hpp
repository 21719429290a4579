// Text of a report inside HTML, XML, Markdown and CSV: it stays text, whatever it holds.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tidemark::reports {

/// For HTML and XML, in elements and in quoted attributes. What printable()
/// does not show becomes '?'.
std::string for_html(std::string_view text);

/// As a Markdown code span, in which nothing is markup, a link or a mention; at most `most`
/// characters of the text, then "...". Stands in a table cell too, its
/// bars as broken bars. Empty text gives nothing.
std::string for_markdown(std::string_view text, std::size_t most = 300);

/// A fenced block of one line, a shell command; `most` as above but nothing at all in its place: a
/// cut command could do something else.
std::string fenced_command(std::string_view command, std::size_t most = 2000);

/// One field of a CSV line, quoted where it must be. What a spreadsheet would take for a formula
/// gets a ' in front.
std::string for_csv(std::string_view text);

}  // namespace tidemark::reports
