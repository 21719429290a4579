// Asks the environment and the terminal.
#include "harness/command_line/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace tidemark::harness {

bool colour_wanted(bool refused) {
  const char* const variable = std::getenv("NO_COLOR");
  const bool unwanted = refused || (variable != nullptr && *variable != '\0');
  return !unwanted && isatty(STDOUT_FILENO) == 1;
}

std::uint32_t terminal_columns(std::uint32_t otherwise, int descriptor) {
  constexpr std::uint32_t kMost = 10'000;
  const char* const variable = std::getenv("COLUMNS");
  const std::string_view text = variable == nullptr ? "" : variable;
  std::uint32_t columns = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
  if (error == std::errc() && end == text.data() + text.size() && columns > 0 && columns <= kMost)
    return columns;
  winsize size{};
  // Some terminals, over serial lines or in containers, say 0.
  if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return otherwise;
}

}  // namespace tidemark::harness
