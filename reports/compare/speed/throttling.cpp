// The reasons that count.
#include "reports/compare/speed/throttling.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "reports/journal/hardware_events.hpp"

namespace tidemark::reports {
namespace {

/// NVML's clock event reasons that say that a GPU is too hot or short of power; the others are of
/// an idle GPU, of set clocks and of the power cap, which is compared itself.
constexpr std::pair<std::uint64_t, std::string_view> kThrottling[] = {
    {0x08, "hardware slowdown"},
    {0x20, "software thermal slowdown"},
    {0x40, "hardware thermal slowdown"},
    {0x80, "power brake"}};

}  // namespace

bool throttling_in(std::uint64_t reasons) {
  return std::ranges::any_of(kThrottling,
                             [reasons](const auto& one) { return (reasons & one.first) != 0; });
}

std::string text_of_throttling(std::uint64_t reasons) {
  std::string made;
  for (const auto& [bit, name] : kThrottling) {
    if ((reasons & bit) != 0) made.append(made.empty() ? "" : ", ").append(name);
  }
  if (made.empty() && (reasons & kThrottlingUnknown) == 0) made = "none";
  return made;
}

}  // namespace tidemark::reports
