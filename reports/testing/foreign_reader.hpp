// Programs that share nothing with ours, which tests give our output to.
#pragma once

#include <array>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>

namespace tidemark::reports {

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

}  // namespace tidemark::reports
