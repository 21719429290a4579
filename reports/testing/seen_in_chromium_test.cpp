// Drives the browser for the tests of pages, and shows that it does look.
#include "reports/testing/seen_in_chromium.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "reports/base/scratch_folder.hpp"
#include "reports/testing/foreign_reader.hpp"

namespace tidemark {

std::string browser() {
  return first_program({"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"});
}

std::vector<nlohmann::json> seen(const std::string& page,
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

namespace {

TEST(SeenInChromium, AnExpressionHasTheValueThePageGivesIt) {
  if (browser().empty()) GTEST_SKIP() << kNoBrowser;
  EXPECT_EQ(seen("<!DOCTYPE html><title>tide</title>", {"document.title"})[0], "tide");
}

}  // namespace
}  // namespace tidemark
