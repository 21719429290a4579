// What runs of a case were seen to do that nobody judges, counted by its wording.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace tidemark::suite {

class Observations {
 public:
  /// Counts one run; nothing where `words` are empty.
  void add(const std::string& words) {
    if (!words.empty()) ++runs_[words];
  }

  /// "all had landed (12 runs)", in the order of the words.
  std::vector<std::string> notes() const {
    std::vector<std::string> notes;
    for (const auto& [words, runs] : runs_)
      notes.push_back(fmt::format("{} ({} {})", words, runs, runs == 1 ? "run" : "runs"));
    return notes;
  }

 private:
  std::map<std::string, std::uint32_t> runs_;
};

}  // namespace tidemark::suite
