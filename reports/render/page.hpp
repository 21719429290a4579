// Lines for a terminal: nothing but printable ASCII gets through, and lines are broken only where
// what they hold can still be copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tidemark::reports {

enum class Colour { none, red, green, yellow };

/// Text under way.
struct Page {
  std::string text;
  bool colour = false;
  std::size_t columns = 100;  // fewer than 40 count as 40
};

/// Every byte that is not printable ASCII becomes '?': a report must not drive the terminal.
std::string printable(std::string_view text);

/// Appends the text, broken at spaces; lines after the first are indented. A word, and all from a
/// '{' to its '}', stays whole, and its line is longer where it must be.
void put(Page& page, std::string_view text, std::size_t indent = 0);

/// The same with its first `coloured` characters in colour, where the page has colours.
void put(Page& page, Colour colour, std::size_t coloured, std::string_view text,
         std::size_t indent = 0);

/// Appends a shell command so that it can be pasted: broken lines end in a backslash, words stay
/// whole.
void put_command(Page& page, std::string_view label, std::string_view command, std::size_t indent);

/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t number);

/// "1 case", "1,024 cases".
std::string plural(std::size_t number, std::string_view what);

/// "... and 17 more findings: --all shows them"; nothing where there are none.
void put_left_out(Page& page, std::size_t number, std::string_view what);

/// Five significant digits; "-" for NaN.
std::string short_number(double value);

/// How far numbers scatter: two significant digits below 10, no fraction from there on; "-" for
/// NaN.
std::string short_spread(double value);

}  // namespace tidemark::reports
