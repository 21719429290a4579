// Formats numbers and names.
#include "reports/words.hpp"

#include <fmt/ranges.h>

#include <cmath>

namespace tidemark::reports {

std::string printable(std::string_view text) {
  std::string made(text);
  for (char& c : made) {
    if (c < ' ' || c > '~') c = '?';
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

}  // namespace tidemark::reports
