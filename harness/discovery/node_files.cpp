// Reads /sys, /dev, /etc and /proc. Nothing here throws: a file that is not there says nothing.
#include "harness/discovery/node_files.hpp"

#include <charconv>
#include <fstream>
#include <string_view>

namespace tidemark {
namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Calls `wants` with each path in `folder` until it says true.
template <class Wants>
bool any_in(const fs::path& folder, const Wants& wants) {
  std::error_code error;
  for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::end(entry);
       entry.increment(error)) {
    if (wants(entry->path())) return true;
  }
  return false;
}

// What stands behind the first line that begins with `key`, blanks and one `separator` cut away.
std::string value_of(const fs::path& path, std::string_view key, char separator) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(key, 0) != 0) continue;
    std::size_t at = line.find_first_not_of(" \t", key.size());
    if (at == std::string::npos || line[at] != separator) continue;
    at = line.find_first_not_of(" \t\"", at + 1);
    const std::size_t last = line.find_last_not_of(" \t\"\r");
    return at == std::string::npos || last < at ? "" : line.substr(at, last - at + 1);
  }
  return {};
}

}  // namespace

bool nvidia_present(const fs::path& root) {
  return any_in(root / "sys/bus/pci/devices",
                [](const fs::path& device) { return first_line(device / "vendor") == "0x10de"; }) ||
         any_in(root / "dev", [](const fs::path& file) {
           return file.filename().string().rfind("nvidia", 0) == 0;
         });
}

std::string driver_module(const fs::path& root) {
  return first_line(root / "sys/module/nvidia/version");
}

std::string clock_source(const fs::path& root) {
  return first_line(root / "sys/devices/system/clocksource/clocksource0/current_clocksource");
}

bool infiniband_present(const fs::path& root) {
  return any_in(root / "sys/class/infiniband", [](const fs::path&) { return true; });
}

std::string os_name(const fs::path& root) {
  return value_of(root / "etc/os-release", "PRETTY_NAME", '=');
}

std::string cpu_model(const fs::path& root) {
  return value_of(root / "proc/cpuinfo", "model name", ':');
}

std::uint64_t free_memory(const fs::path& root) {
  const std::string text = value_of(root / "proc/meminfo", "MemAvailable", ':');
  std::uint64_t kibibytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), kibibytes);
  return error == std::errc() && std::string_view(end) == " kB" ? kibibytes * 1024 : 0;
}

std::optional<std::uint64_t> oom_kills(const fs::path& root) {
  std::ifstream groups(root / "proc/self/cgroup");  // "4:memory:/job", version 2 "0::/job"
  for (std::string line; std::getline(groups, line);) {
    const bool first = line.find("memory:/") != std::string::npos;
    if (!first && !line.starts_with("0::/")) continue;
    const fs::path top = root / (first ? "sys/fs/cgroup/memory" : "sys/fs/cgroup");
    // A container may have its own group as the top and not know the path to it.
    for (const fs::path& group : {top / line.substr(line.find('/') + 1), top}) {
      std::ifstream counts(group / (first ? "memory.oom_control" : "memory.events"));
      std::uint64_t count = 0;
      for (std::string name; counts >> name >> count;)
        if (name == "oom_kill") return count;
    }
  }
  return std::nullopt;
}

std::string boot_id(const fs::path& root) {
  return first_line(root / "proc/sys/kernel/random/boot_id");
}

}  // namespace tidemark
