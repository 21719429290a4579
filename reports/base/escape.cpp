// Escapes for the languages that reports are rendered in; terminals are page.cpp's.
#include "reports/base/escape.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/base/words.hpp"

namespace tidemark::reports {
namespace {

/// A run of backticks longer than any in the text, and at least `least`.
std::string fence_around(std::string_view text, std::size_t least) {
  std::size_t longest = 0, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return std::string(std::max(longest + 1, least), '`');
}

}  // namespace

std::string for_html(std::string_view text) {
  std::string made;
  made.reserve(text.size());
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        made += "&amp;";
        break;
      case '<':
        made += "&lt;";
        break;
      case '>':
        made += "&gt;";
        break;
      case '"':
        made += "&quot;";
        break;
      case '\'':
        made += "&#39;";
        break;
      default:
        made += c;
    }
  }
  return made;
}

std::string for_markdown(std::string_view text, std::size_t most) {
  std::string clean = printable(text.substr(0, most));
  if (text.size() > most) clean += "...";
  if (clean.empty()) return {};
  const std::string fence = fence_around(clean, 1);
  // A table is cut at its bars before code spans are looked for, and \| is no way out where the
  // text itself holds a backslash: a bar becomes one with a gap (U+00A6).
  std::string made;
  for (const char c : clean) made += c == '|' ? "\xc2\xa6" : std::string(1, c);
  // One space on each side is taken away again; without it a fence would grow by what it touches,
  // and text that is spaces at both ends would lose one of each.
  const auto touches = [](char c) { return c == '`' || c == ' '; };
  const bool spaced = touches(clean.front()) || touches(clean.back());
  return fmt::format("{0}{1}{2}{1}{0}", fence, spaced ? " " : "", made);
}

std::string fenced_command(std::string_view command, std::size_t most) {
  if (command.size() > most) {
    return "(the replay line is too long for here: `tidemark show --json` has it)\n";
  }
  const std::string clean = printable(command), fence = fence_around(clean, 3);
  return fmt::format("{0}sh\n{1}\n{0}\n", fence, clean);
}

std::string for_csv(std::string_view text) {
  std::string made = printable(text);
  // Spaces do not hide a formula from every spreadsheet.
  const std::size_t first = made.find_first_not_of(' ');
  if (first != std::string::npos && std::string_view("=+-@").find(made[first]) != std::string::npos)
    made.insert(made.begin(), '\'');
  if (made.find_first_of(",\";'| ") == std::string::npos) return made;
  std::string quoted = "\"";
  for (const char c : made) {
    quoted += c;
    if (c == '"') quoted += '"';
  }
  return quoted + '"';
}

}  // namespace tidemark::reports
