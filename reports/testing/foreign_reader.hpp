// Programs that share nothing with ours, which tests give our output to.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <string>

#include "reports/base/scratch_folder.hpp"

namespace tidemark {

/// The first of them that the shell finds; empty without one.
inline std::string first_program(std::initializer_list<const char*> candidates) {
  for (const char* candidate : candidates) {
    const std::string command = "command -v " + std::string(candidate) + " >/dev/null 2>&1";
    if (std::system(command.c_str()) == 0) return candidate;
  }
  return {};
}

/// The first Python that has the module; empty without one.
inline std::string interpreter_with(const std::string& module) {
  for (const char* candidate : {"python3", "/usr/bin/python3", "/usr/local/bin/python3"}) {
    const std::string command =
        std::string(candidate) + " -c 'import " + module + "' >/dev/null 2>&1";
    if (std::system(command.c_str()) == 0) return candidate;
  }
  return {};
}

/// What a shell command writes to stdout.
inline std::string output_of(const std::string& command) {
  std::string made;
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return made;
  std::array<char, 4096> buffer{};
  for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    made.append(buffer.data(), got);
  }
  pclose(pipe);
  return made;
}

/// What cmark-gfm makes of Markdown, in which nothing of a report became markup; empty without it.
inline std::string harmless_html_of(const std::string& markdown) {
  if (first_program({"cmark-gfm"}).empty()) return {};
  const ScratchFolder scratch;
  std::ofstream(scratch.file("a.md")) << markdown;
  std::string html =
      output_of(fmt::format("cmark-gfm --unsafe -e table -e autolink {}", scratch.file("a.md")));
  for (const char* bad : {"<script", "<img", "<svg", "<a ", "<!--", "\x1b", "</title>"}) {
    EXPECT_EQ(html.find(bad), std::string::npos) << bad << "\n" << html;
  }
  EXPECT_NE(html.find("&lt;script&gt;"), std::string::npos) << html;
  return html;
}

inline constexpr const char* kNoCmark = "no cmark-gfm: what becomes of Markdown was not tried";

}  // namespace tidemark
