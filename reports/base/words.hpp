// Numbers, moments, names and text as people read them, and as each format takes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

/// Match with * and ?; the whole name must match.
bool glob_matches(const std::string& glob, std::string_view name);

// Moments of launches: which can be one, and how they are written.

/// Whether a launch can have begun then: from 2020 to the end of 2199. What lies outside is a clock
/// that was never set, or a report that was made up.
bool is_launch_time(double unix_s);

/// "2026-09-01T00:00:00Z"; empty of what is no time before the year 10000.
std::string utc_text(double unix_s);

// Numbers and names as people read them, the same in every format and message.

/// Every byte that is no UTF-8, or of a character that is not seen (control characters, changes of
/// direction, ...), becomes '?': a report must not drive the terminal. As long as the text.
std::string printable(std::string_view text);

/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t number);

/// "1 case", "1,024 cases", "2 launches".
std::string plural(std::size_t number, std::string_view what);

/// "a, b, c, d, and 12 more cases": at most `most` of the names, or one more.
std::string some_of(const std::vector<std::string>& names, std::size_t most, std::string_view what);

/// "NOT RUN" of "not_run": a name as a heading.
std::string upper(std::string_view name);

/// Five significant digits; "-" for NaN.
std::string short_number(double value);

/// How far numbers scatter: two significant digits below 10, no fraction from there on; "-" for
/// NaN.
std::string short_spread(double value);

/// "-2.03 %" of a natural logarithm.
std::string percent(double logarithm);
/// "+2.03 %".
std::string signed_percent(double logarithm);

// Text of a report inside HTML, XML, Markdown and CSV: it stays text, whatever it holds.

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

// Lists of numbers for people.

/// "0-3, 7" of ascending numbers.
std::string ranges(const std::vector<std::uint32_t>& numbers);

/// "0-3, 7 and 504 more": the first `most` ranges.
std::string first_ranges(const std::vector<std::uint32_t>& numbers, std::size_t most);

}  // namespace tidemark
