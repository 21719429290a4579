// Paths in commands that tidemark prints for its users to run.
#include "harness/base/shell_word.hpp"

#include <fmt/format.h>
#include <string_view>

#include "reports/base/words.hpp"

namespace tidemark::harness {

std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-+,:=@%";
  if (text.starts_with('-')) return shell_word("./" + text);  // else it would be an option
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  const std::string shown = printable(text);
  std::string made = shown == text ? "'" : "$'";
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (shown == text)
      made += text[i] == '\'' ? "'\\''" : text.substr(i, 1);
    else if (shown[i] != text[i])
      made += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[i]));
    else
      made += (text[i] == '\'' || text[i] == '\\' ? "\\" : "") + text.substr(i, 1);
  }
  return made + "'";
}

}  // namespace tidemark::harness
