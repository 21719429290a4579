// What NVML refuses, and what its events say of the hardware and not of the program that ran on it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace tidemark {

/// A count that NVML refused to give, in a record as in its column.
template <class Count>
inline constexpr Count kUnknownCount = std::numeric_limits<Count>::max();

/// The count; NaN where it is unknown.
template <class Count>
double number_of(Count count) {
  return count != kUnknownCount<Count> ? static_cast<double>(count)
                                       : std::numeric_limits<double>::quiet_NaN();
}

/// In `throttle_reasons`: NVML, which has no reason with this bit, refused to give them.
inline constexpr std::uint64_t kThrottlingUnknown = std::uint64_t{1} << 63;

/// NVML's clock event reasons that say that a GPU is too hot or short of power; the others are of
/// an idle GPU, of set clocks and of the power cap, which is compared itself.
inline constexpr std::pair<std::uint64_t, std::string_view> kThrottling[] = {
    {0x08, "hardware slowdown"},
    {0x20, "software thermal slowdown"},
    {0x40, "hardware thermal slowdown"},
    {0x80, "power brake"}};

/// Whether NVML's clock event reasons hold one that says that the GPU is too hot or short of power.
inline bool throttling_in(std::uint64_t reasons) {
  return std::ranges::any_of(kThrottling,
                             [reasons](const auto& one) { return (reasons & one.first) != 0; });
}

/// These reasons in words; "none" where there are none, empty where NVML refused to give them.
inline std::string text_of_throttling(std::uint64_t reasons) {
  std::string made;
  for (const auto& [bit, name] : kThrottling) {
    if ((reasons & bit) != 0) made.append(made.empty() ? "" : ", ").append(name);
  }
  if (made.empty() && (reasons & kThrottlingUnknown) == 0) made = "none";
  return made;
}

/// The text of an event that is no Xid.
inline constexpr std::string_view kDoubleBitError = "double-bit ECC error";

/// What an Xid means and asks for.
struct Xid {
  std::int32_t code = 0;
  std::string_view meaning, action;
  bool spoils = false;  // memory held wrong bytes while no process was stopped

  /// Only a reset, a restart or another GPU ends it.
  constexpr bool drains() const { return action.starts_with("drain"); }
};

inline constexpr std::string_view kReset = "drain, reset the GPU";
inline constexpr std::string_view kOfApplication =
    "the application's fault unless it recurs on one GPU: then drain";

/// NVIDIA's Xid catalog (docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html), immediate
/// action of an H100; it has 145 for NVLink 5 alone. harness/guide/failed.md lists the same.
inline constexpr std::array<Xid, 18> kXids = {{
    {13, "exception in a kernel", kOfApplication},
    {31, "memory page fault", kOfApplication},
    {43, "stopped after a fault of its application", kOfApplication},
    {48, "uncorrectable ECC error", kReset, true},
    {62, "microcontroller halted", kReset},
    {63, "memory row remapped", "reset the GPU when it is idle"},
    {64, "memory row not remapped", "drain, reset the GPU; again: replace it"},
    {74, "NVLink error", "drain, reset the GPU; again: see both ends of the link"},
    {79, "fallen off the bus", "drain, power cycle; again: replace the GPU"},
    {94, "contained memory error", "restart the application; reset the GPU when it is idle"},
    {95, "uncontained memory error", kReset, true},
    {119, "GSP does not answer", "drain, reset the GPU; again: power cycle"},
    {120, "GSP failed", "drain, reset the GPU; again: power cycle"},
    {136, "NVLink training failed", kReset},
    {140, "unrecovered ECC error", "drain, reset the GPU; again: replace it", true},
    {143, "initialization failed", kReset},
    {145, "NVLink RLW error", kReset},
    {154, "recovery needed", "drain; the kernel log says how to recover"},
}};

/// Null where the event is none of them.
inline const Xid* xid_of(std::string_view source, std::int32_t code) {
  const auto* const found = std::ranges::find(kXids, code, &Xid::code);
  return source == "nvml" && found != kXids.end() ? found : nullptr;
}

/// Whether memory held wrong bytes while nobody was stopped: then no result of that moment counts.
inline bool spoils_results(std::string_view source, std::int32_t code, std::string_view text) {
  const Xid* const xid = xid_of(source, code);
  return (xid != nullptr && xid->spoils) || (source == "nvml" && text == kDoubleBitError);
}

}  // namespace tidemark
