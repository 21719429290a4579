// Lets tests look at a page in headless Chromium.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tidemark::reports {

/// The program, or nothing where none is installed.
std::string browser();

inline constexpr const char* kNoBrowser = "no Chromium: the page was not looked at in a browser";

/// What Chromium says of the page: the value of each expression, then requests and messages.
std::vector<nlohmann::json> seen(const std::string& page,
                                 const std::vector<std::string>& expressions);

}  // namespace tidemark::reports
