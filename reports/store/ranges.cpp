// Numbers that follow each other are written as one range.
#include "reports/store/ranges.hpp"

#include <fmt/format.h>

namespace tidemark::reports {

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

}  // namespace tidemark::reports
