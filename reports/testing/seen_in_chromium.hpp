// Lets tests look at a page in headless Chromium.
#pragma once

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tidemark {

/// The program, or nothing where none is installed.
std::string browser();

inline constexpr const char* kNoBrowser = "no Chromium: the page was not looked at in a browser";

/// What Chromium says of the page: the value of each expression, then requests and messages.
std::vector<nlohmann::json> seen(const std::string& page,
                                 const std::vector<std::string>& expressions);

/// Nothing of a report became an element, an attribute or a request of the page.
inline void expect_harmless(const std::string& page, const std::string& start_of_title) {
  const auto said = seen(
      page, {"document.scripts.length",
             "[...document.querySelectorAll(\"*\")].flatMap(e => [...e.attributes]).filter(a => "
             "a.name.startsWith(\"on\") || a.name === \"src\" || a.name === \"style\").length",
             "document.querySelectorAll(\"img, iframe, object, link, base, form\").length",
             "document.title.startsWith(\"" + start_of_title + "\")",
             "[...document.links].every(a => a.hash !== \"\" && a.protocol === \"file:\")",
             "document.body.textContent.includes(\"<script>\")"});
  EXPECT_EQ(said[0], 1);
  EXPECT_EQ(said[1], 0);
  EXPECT_EQ(said[2], 0);
  EXPECT_EQ(said[3], true);
  EXPECT_EQ(said[4], true);
  EXPECT_EQ(said[5], true);
  EXPECT_EQ(said.back()["requests"].size(), 1U) << said.back();
  EXPECT_EQ(said.back()["messages"], nlohmann::json::array());
}

/// The page names no file and no place that it could load something from.
inline void expect_nothing_outside(const std::string& page) {
  for (const char* outside : {"http:", "https:", "//cdn", "url(", "@import", " src="}) {
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  }
}

}  // namespace tidemark
