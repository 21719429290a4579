// Reads /proc: who hangs, or is stopped, cannot be asked.
#include "harness/relay/job_processes.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>

#include "harness/room.hpp"
#include "reports/base/process_state.hpp"

namespace tidemark::harness {
namespace {

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// The value of `name` in a block of NAME=value, each ended by a zero byte.
std::optional<std::string_view> value_of(std::string_view block, std::string_view name) {
  while (!block.empty()) {
    const std::string_view entry = block.substr(0, block.find('\0'));
    block.remove_prefix(std::min(entry.size() + 1, block.size()));
    if (entry.size() > name.size() && entry.substr(0, name.size()) == name &&
        entry[name.size()] == '=')
      return entry.substr(name.size() + 1);
  }
  return std::nullopt;
}

}  // namespace

std::vector<int> all_processes() {
  std::vector<int> found;
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    if (const auto process = number_in<int>(entry->path().filename().string()))
      found.push_back(*process);
  }
  return found;
}

std::vector<JobProcess> job_processes() {
  std::vector<JobProcess> found;
  for (const int process : all_processes()) {
    const std::string environment = process_file(process, "environ");
    const auto job = value_of(environment, "PMIX_NAMESPACE");
    const auto rank = number_in<std::uint32_t>(value_of(environment, "PMIX_RANK").value_or(""));
    if (!job || !rank) continue;
    found.push_back({.job = std::string(*job),
                     .rank = *rank,
                     .process = process,
                     .stopped = process_state(process).value_or(ProcessState{}).stopped()});
  }
  return found;
}

}  // namespace tidemark::harness
