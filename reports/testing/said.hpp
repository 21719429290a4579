// What a text or an error says, for tests of either.
#pragma once

#include <string>
#include <string_view>

#include "reports/base/error.hpp"

namespace tidemark {

inline bool has(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

/// The line of the ReportError that `act` throws.
template <class Act>
std::string error_from(const Act& act) {
  try {
    act();
  } catch (const ReportError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace tidemark
