// Matches with one star to come back to: linear for every pattern a person writes.
#include "reports/glob.hpp"

namespace tidemark::reports {

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

}  // namespace tidemark::reports
