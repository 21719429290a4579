// From a share to whole units, or to a time.
#include "kernels/slowdown.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "kernels/error.hpp"

namespace tidemark {

std::uint32_t extra_units(std::uint32_t units, double slow) {
  if (!(slow > 0)) return 0;
  // None at all would be a benchmark that says that it was slowed, and was not.
  return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(std::lround(slow * units)));
}

double slowed_factor(std::uint32_t units, double slow) {
  return 1 + static_cast<double>(extra_units(units, slow)) / units;
}

double extra_ns(std::vector<double> untouched_ns, double slow) {
  if (untouched_ns.empty())
    throw Error("no warm-ups: what a benchmark is to be slowed by is a share of their time");
  const auto middle = untouched_ns.begin() + static_cast<std::ptrdiff_t>(untouched_ns.size() / 2);
  std::nth_element(untouched_ns.begin(), middle, untouched_ns.end());
  return slow * *middle;
}

std::string slowed_note(std::uint32_t units, double slow, const std::string& what) {
  if (!(slow > 0)) return {};
  return fmt::format("; slowed on purpose: {} {} more than {}", extra_units(units, slow), what,
                     units);
}

}  // namespace tidemark
