// Filters, breaks and formats what goes to a terminal.
#include "reports/render/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tidemark {
namespace {

std::string_view escape_of(Colour colour) {
  switch (colour) {
    case Colour::red:
      return "\x1b[31m";
    case Colour::green:
      return "\x1b[32m";
    case Colour::yellow:
      return "\x1b[33m";
    case Colour::none:
      break;
  }
  return {};
}

/// Where to end a line of at most `room` characters: at the last space, else in the word.
std::size_t break_of(std::string_view text, std::size_t room) {
  if (text.size() <= room) return text.size();
  const std::size_t space = text.rfind(' ', room);
  // Leading spaces are layout, not a place to break at.
  const std::size_t first_word = text.find_first_not_of(' ');
  return space == std::string_view::npos || space <= first_word ? room : space;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string made(text);
  for (char& c : made) {
    if (c < ' ' || c > '~') c = '?';
  }
  return made;
}

void put(Page& page, std::string_view text, std::size_t indent) {
  put(page, Colour::none, 0, text, indent);
}

void put(Page& page, Colour colour, std::size_t coloured, std::string_view text,
         std::size_t indent) {
  const std::string clean = printable(text);
  std::string_view rest = clean;
  bool first = true;
  do {
    const std::size_t used = first ? 0 : indent;
    const std::size_t end = break_of(rest, kPageColumns - used);
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end);
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    while (line.ends_with(' ')) line.remove_suffix(1);
    page.text.append(used, ' ');
    if (first && page.colour && colour != Colour::none) {
      const std::size_t head = std::min(coloured, line.size());
      page.text +=
          fmt::format("{}{}\x1b[0m{}", escape_of(colour), line.substr(0, head), line.substr(head));
    } else {
      page.text += line;
    }
    page.text += '\n';
    first = false;
  } while (!rest.empty());
}

void put_command(Page& page, std::string_view label, std::string_view command, std::size_t indent) {
  const std::string clean = printable(command);
  std::string line(indent, ' ');
  line += label;
  bool empty = true;
  for (std::size_t at = 0; at < clean.size();) {
    const std::size_t end = std::min(clean.find(' ', at), clean.size());
    const std::string_view word = std::string_view(clean).substr(at, end - at);
    constexpr std::size_t kBackslash = 2;
    if (!empty && line.size() + 1 + word.size() + kBackslash > kPageColumns) {
      page.text += line + " \\\n";
      line.assign(indent + 2, ' ');
      empty = true;
    }
    if (!empty) line += ' ';
    line += word;
    empty = false;
    at = end + 1;
  }
  page.text += line + '\n';
}

std::string grouped(std::uint64_t number) {
  std::string made = std::to_string(number);
  for (std::size_t at = made.size(); at > 3;) made.insert(at -= 3, 1, ',');
  return made;
}

std::string short_number(double value) {
  if (std::isnan(value)) return "-";
  return fmt::format("{:.5g}", value);
}

}  // namespace tidemark
