// Tells code of a reproducer from its words; the words of hostile/ try to be code.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace tidemark {

/// What a compiler reads as code: without comments, and of literals the quotes alone, once for
/// those that follow one another. Trigraphs first, as before C++17, then spliced lines.
inline std::string code_of(std::string_view source) {
  std::string spliced(source);
  const auto replace = [&spliced](std::string_view what, std::string_view by) {
    for (auto at = spliced.find(what); at != std::string::npos; at = spliced.find(what, at))
      spliced.replace(at, what.size(), by);
  };
  replace("?\?/", "\\");
  replace("\\\n", "");
  std::string code;
  for (std::size_t i = 0; i < spliced.size(); ++i) {
    if (spliced.compare(i, 2, "//") == 0) i = std::min(spliced.find('\n', i), spliced.size() - 1);
    if (spliced.compare(i, 2, "/*") == 0) i = spliced.find("*/", i) + 1;
    code += spliced[i];
    if (spliced[i] != '"' && spliced[i] != '\'') continue;
    const char quote = spliced[i];
    for (++i; i < spliced.size() && spliced[i] != quote; ++i)
      if (spliced[i] == '\\') ++i;
    code += quote;
  }
  std::erase_if(code, [](char c) { return c == ' ' || c == '\n'; });
  spliced = code;
  replace("\"\"\"\"", "\"\"");
  return spliced;
}

}  // namespace tidemark
