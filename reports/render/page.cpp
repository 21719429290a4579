// Filters, breaks and formats what goes to a terminal.
#include "reports/render/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "reports/base/words.hpp"

namespace tidemark {
namespace {

std::string_view escape_of(Tone tone) {
  constexpr std::string_view kEscapes[] = {"", "", "\x1b[32m", "\x1b[33m", "\x1b[31m"};
  return kEscapes[static_cast<std::size_t>(tone)];
}

constexpr std::size_t kFewestColumns = 40;  // a narrower page would be a word a line

std::size_t columns_of(const Page& page) { return std::max(page.columns, kFewestColumns); }

/// The spaces a line may end at: none between a '{' and its '}', none of the layout at the start.
std::vector<bool> breaks_of(std::string_view text) {
  std::vector<std::size_t> open, partner(text.size());  // partner 0: a brace that never closes
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '{') open.push_back(at);
    if (text[at] != '}' || open.empty()) continue;
    partner[open.back()] = at;
    open.pop_back();
  }
  std::vector<bool> breaks(text.size());
  const std::size_t first_word = std::min(text.find_first_not_of(' '), text.size());
  for (std::size_t at = first_word; at < text.size(); ++at) {
    at = std::max(at, partner[at]);
    // A number and its sign or its percent belong together.
    const bool percent = text.substr(at + 1, 1) == "%";
    const bool spread = at >= 2 && text.substr(at - 2, 2) == "+-";
    breaks[at] = text[at] == ' ' && !percent && !spread;
  }
  return breaks;
}

/// Where a line that starts at `start` ends: at the last break that leaves it in `room`
/// characters, else at the first one.
std::size_t end_of_line(const std::vector<bool>& breaks, std::size_t start, std::size_t room) {
  if (breaks.size() - start <= room) return breaks.size();
  for (std::size_t at = start + room; at > start; --at) {
    if (breaks[at]) return at;
  }
  for (std::size_t at = start + room; at < breaks.size(); ++at) {
    if (breaks[at]) return at;
  }
  return breaks.size();
}

}  // namespace

void put(Page& page, std::string_view text, std::size_t indent) {
  put(page, Tone::none, 0, text, indent);
}

void put(Page& page, Tone tone, std::size_t coloured, std::string_view text, std::size_t indent) {
  const std::string clean = printable(text);
  const std::vector<bool> breaks = breaks_of(clean);
  std::size_t start = 0;
  bool first = true;
  do {
    const std::size_t used = first ? 0 : indent;
    const std::size_t room = columns_of(page) - std::min(used, columns_of(page) / 2);
    const std::size_t end = end_of_line(breaks, start, room);
    std::string_view line = std::string_view(clean).substr(start, end - start);
    start = std::min(clean.find_first_not_of(' ', end), clean.size());
    while (line.ends_with(' ')) line.remove_suffix(1);
    page.text.append(used, ' ');
    if (first && page.colour && !escape_of(tone).empty()) {
      const std::size_t head = std::min(coloured, line.size());
      page.text +=
          fmt::format("{}{}\x1b[0m{}", escape_of(tone), line.substr(0, head), line.substr(head));
    } else {
      page.text += line;
    }
    page.text += '\n';
    first = false;
  } while (start < clean.size());
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
    if (!empty && line.size() + 1 + word.size() + kBackslash > columns_of(page)) {
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

}  // namespace tidemark
