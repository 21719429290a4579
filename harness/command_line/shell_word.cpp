// POSIX.1-2017, Shell Command Language, 2.2.2.
#include "harness/command_line/shell_word.hpp"

#include <string_view>

namespace tidemark::harness {

std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-+,:=@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string made = "'";
  for (const char letter : text) made += letter == '\'' ? "'\\''" : std::string(1, letter);
  return made + "'";
}

}  // namespace tidemark::harness
