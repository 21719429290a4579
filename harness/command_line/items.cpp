// Splits what was typed.
#include "harness/command_line/items.hpp"

#include <fmt/format.h>

#include "harness/errors.hpp"

namespace tidemark::harness {

std::vector<std::string> items_of(std::string_view option, const std::vector<std::string>& typed) {
  constexpr std::string_view kDividers = ", \t\n";
  std::vector<std::string> items;
  for (const std::string& argument : typed) {
    const std::size_t before = items.size();
    std::size_t begin = argument.find_first_not_of(kDividers);
    while (begin != std::string::npos) {
      const std::size_t end = argument.find_first_of(kDividers, begin);
      items.push_back(argument.substr(begin, end - begin));
      begin = argument.find_first_not_of(kDividers, end);
    }
    if (items.size() == before)
      throw UsageError(fmt::format("{} '{}': names nothing; give a name, or leave {} out", option,
                                   argument, option));
  }
  return items;
}

}  // namespace tidemark::harness
