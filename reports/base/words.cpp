// Numbers, moments, names and text as people read them, and as each format takes them.
#include "reports/base/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>

namespace tidemark {

// Matches with one star to come back to: linear for every pattern a person writes.

bool glob_matches(const std::string& glob, std::string_view name) {
  std::size_t g = 0;
  std::size_t n = 0;
  std::size_t star = std::string::npos;  // the last one passed
  std::size_t resume = 0;                // where the name goes on if that star takes one more
  while (n < name.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      resume = n;
    } else if (g < glob.size() && (glob[g] == '?' || glob[g] == name[n])) {
      ++g;
      ++n;
    } else if (star != std::string::npos) {
      g = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  return glob.find_first_not_of('*', g) == std::string::npos;
}

// From seconds since 1970 to text.

bool is_launch_time(double unix_s) {
  constexpr double kBegin = 1577836800, kEnd = 7258118400;  // 2020-01-01, 2200-01-01
  return unix_s >= kBegin && unix_s < kEnd;                 // NaN is neither
}

std::string utc_text(double unix_s) {
  constexpr double kYear10000 = 253402300800;
  if (!(unix_s >= 0 && unix_s < kYear10000)) return {};
  const auto seconds = static_cast<std::time_t>(unix_s);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

// Formats numbers and names.

namespace {

/// Not seen, or no characters: they reorder a line, or make two names look alike.
bool is_hidden(std::uint32_t code) {
  constexpr std::array<std::array<std::uint32_t, 2>, 14> kHidden = {{{0, 0x1f},
                                                                     {0x7f, 0x9f},
                                                                     {0xad, 0xad},
                                                                     {0x34f, 0x34f},
                                                                     {0x61c, 0x61c},
                                                                     {0x115f, 0x1160},
                                                                     {0x180b, 0x180f},
                                                                     {0x200b, 0x200f},
                                                                     {0x2028, 0x202e},
                                                                     {0x2060, 0x206f},
                                                                     {0xd800, 0xdfff},
                                                                     {0xfe00, 0xfe0f},
                                                                     {0xfeff, 0xfeff},
                                                                     {0xe0000, 0xe0fff}}};
  return (code & 0xfffeU) == 0xfffeU || std::ranges::any_of(kHidden, [code](const auto& range) {
           return code >= range[0] && code <= range[1];
         });
}

/// Bytes of the character that starts the text; 0 where it is none to be shown (RFC 3629).
std::size_t shown_bytes(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t bytes = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if ((lead >= 0x80 && lead < 0xc2) || lead > 0xf4 || bytes > text.size()) return 0;
  std::uint32_t code = bytes == 1 ? lead : lead & (0x7fU >> bytes);
  for (const char next : text.substr(1, bytes - 1)) {
    if ((next & 0xc0) != 0x80) return 0;
    code = code << 6U | (next & 0x3fU);
  }
  constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  return code < kLeast[bytes] || code > 0x10ffff || is_hidden(code) ? 0 : bytes;
}

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

std::string printable(std::string_view text) {
  std::string made(text);
  for (std::size_t at = 0; at < made.size();) {
    const std::size_t shown = shown_bytes(text.substr(at));
    if (shown == 0) made[at] = '?';
    at += std::max<std::size_t>(shown, 1);
  }
  return made;
}

std::string grouped(std::uint64_t number) {
  std::string made = std::to_string(number);
  for (std::size_t at = made.size(); at > 3;) made.insert(at -= 3, 1, ',');
  return made;
}

std::string plural(std::size_t number, std::string_view what) {
  const char* const ending = number == 1 ? "" : what.ends_with("ch") ? "es" : "s";
  return fmt::format("{} {}{}", grouped(number), what, ending);
}

std::string some_of(const std::vector<std::string>& names, std::size_t most,
                    std::string_view what) {
  const std::size_t shown = names.size() > most + 1 ? most : names.size();
  std::string made = fmt::format(
      "{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (shown == names.size()) return made;
  return made + fmt::format(", and {}", plural(names.size() - shown, fmt::format("more {}", what)));
}

std::string upper(std::string_view name) {
  std::string made(name);
  for (char& c : made) c = c == '_' ? ' ' : static_cast<char>(c - 'a' + 'A');
  return made;
}

std::string short_number(double value) {
  if (std::isnan(value)) return "-";
  return fmt::format("{:.5g}", value);
}

std::string short_spread(double value) {
  if (std::isnan(value)) return "-";
  return std::abs(value) < 10 ? fmt::format("{:.2g}", value) : fmt::format("{:.0f}", value);
}

std::string percent(double logarithm) {
  if (std::isnan(logarithm)) return "unknown";
  constexpr double kPercent = 100, kReadable = 1e5;
  const double made = kPercent * std::expm1(logarithm);
  return made < kReadable ? fmt::format("{:.2f} %", made) : fmt::format("{:.3g} %", made);
}

std::string signed_percent(double logarithm) {
  const std::string made = percent(logarithm);
  if (made == "-0.00 %") return "+0.00 %";
  return made.starts_with('-') || std::isnan(logarithm) ? made : "+" + made;
}

// Escapes for the languages that reports are rendered in; terminals are page.cpp's.

std::string for_html(std::string_view text) {
  constexpr std::string_view kSpecial = "&<>\"'";
  constexpr std::string_view kEscapes[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
  std::string made;
  made.reserve(text.size());
  for (const char c : printable(text)) {
    const std::size_t special = kSpecial.find(c);
    special == kSpecial.npos ? made += c : made += kEscapes[special];
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

// Numbers that follow each other are written as one range.

std::string ranges(const std::vector<std::uint32_t>& numbers) {
  return first_ranges(numbers, numbers.size());
}

std::string first_ranges(const std::vector<std::uint32_t>& numbers, std::size_t most) {
  std::string made;
  for (std::size_t i = 0, written = 0; i < numbers.size(); ++written) {
    if (written == most) return made + fmt::format(" and {} more", numbers.size() - i);
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (i > 0) made += ", ";
    made +=
        last == i ? fmt::format("{}", numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[last]);
    i = last + 1;
  }
  return made;
}

}  // namespace tidemark
