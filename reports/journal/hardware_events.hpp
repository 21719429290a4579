// What NVML's events say of the hardware itself, and not of the program that ran on it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "reports/journal/record.hpp"

namespace tidemark::reports {

/// The text of an event that is no Xid.
inline constexpr std::string_view kDoubleBitError = "double-bit ECC error";

/// Xids that only a reset, a restart or another GPU ends; the rest may be a program's own doing.
/// NVIDIA, "Xid Errors" (docs.nvidia.com/deploy/xid-errors).
inline constexpr std::array<std::int32_t, 9> kSickXids = {
    48,        // double-bit ECC error
    64,        // a row could not be remapped
    74,        // NVLink error
    79,        // fallen off the bus
    95,        // uncontained memory error
    119, 120,  // the GSP does not answer, or failed
    140,       // unrecovered ECC error
    154,       // recovery action needed
};

/// Whether memory held wrong bytes while nobody was stopped: then no result of that moment counts.
inline bool spoils_results(std::string_view source, std::int32_t code, std::string_view text) {
  constexpr std::array<std::int32_t, 3> kUncontained = {48, 95, 140};
  return source == "nvml" &&
         (text == kDoubleBitError ||
          std::find(kUncontained.begin(), kUncontained.end(), code) != kUncontained.end());
}

}  // namespace tidemark::reports
