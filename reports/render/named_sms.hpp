// SMs that a text names: " [SM 17]", or " [SM 4, 17]" where there are several.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::reports {

/// A text and the SMs that it names, apart: GPUs that fail alike fail on different SMs.
struct NamedSms {
  std::string text;                // without the SMs
  std::vector<std::uint32_t> sms;  // in the order of the text
};
NamedSms named_sms(std::string_view text);

}  // namespace tidemark::reports
