// Lines for a terminal: nothing but printable() text gets through, and lines are broken only where
// what they hold can still be copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "reports/base/words.hpp"
#include "reports/document/document.hpp"

namespace tidemark {

/// Text under way.
struct Page {
  std::string text = {};
  bool colour = false;
  std::size_t columns = 100;  // fewer than 40 count as 40
};

/// Appends the text, broken at spaces; lines after the first are indented. A word, and all from a
/// '{' to its '}', stays whole, and its line is longer where it must be.
void put(Page& page, std::string_view text, std::size_t indent = 0);

/// The same with its first `coloured` characters in the colour of the tone, where the page has
/// colours.
void put(Page& page, Tone tone, std::size_t coloured, std::string_view text,
         std::size_t indent = 0);

/// Appends a shell command so that it can be pasted: broken lines end in a backslash, words stay
/// whole.
void put_command(Page& page, std::string_view label, std::string_view command, std::size_t indent);

}  // namespace tidemark
