// Lets tests look at a page in headless Chromium.
#pragma once

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "reports/foreign_reader.hpp"
#include "reports/scratch_folder.hpp"

namespace tidemark {

inline std::string browser() {
  return first_program({"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"});
}

inline constexpr const char* kNoBrowser = "no Chromium: the page was not looked at in a browser";

/// What Chromium says of the page: the value of each expression, then requests and messages.
inline std::vector<nlohmann::json> seen(const std::string& page,
                                        const std::vector<std::string>& expressions) {
  const ScratchFolder scratch;
  std::ofstream(scratch.file("page.html")) << page;
  std::string command = fmt::format("python3 {} {} {}", TIDEMARK_DRIVE_CHROMIUM, browser(),
                                    scratch.file("page.html"));
  // The expressions of these tests have no single quotes.
  for (const std::string& expression : expressions) command += fmt::format(" '{}'", expression);
  std::istringstream lines(output_of(command));
  std::vector<nlohmann::json> made;
  for (std::string line; std::getline(lines, line);) made.push_back(nlohmann::json::parse(line));
  made.resize(expressions.size() + 1);  // a test of a browser that ended fails, and does not crash
  return made;
}

}  // namespace tidemark
