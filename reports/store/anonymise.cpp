// One pass over a text: at each start of a word the longest known name is tried, then the shapes of
// a UUID, a PCI address and a path. What was put in is not looked at again.
#include "reports/store/anonymise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>

namespace tidemark {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alphanumeric(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool ends_path(char c) {
  return static_cast<unsigned char>(c) <= ' ' ||
         std::string_view("\"'`,;:()<>[]{}|=").find(c) != std::string_view::npos;
}

std::string lower(std::string_view text) {
  std::string made(text);
  for (char& c : made) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return made;
}

/// FNV-1a 64 and a final mix, so that names that differ in the last letter differ everywhere.
std::uint64_t salted_hash(std::string_view salt, std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::string_view part : {salt, std::string_view("\0", 1), text}) {
    for (const char c : part) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
  return hash ^ (hash >> 31);
}

/// Characters from `at` on for which `accepts` holds.
std::string_view run(std::string_view text, std::size_t at, bool (*accepts)(char)) {
  std::size_t end = at;
  while (end < text.size() && accepts(text[end])) ++end;
  return text.substr(at, end - at);
}

/// The PCI address that starts the text: "00000000:1B:00.0", "0000:1b:00"; else empty.
std::string_view leading_pci(std::string_view text) {
  const std::size_t domain = run(text, 0, is_hex).size();
  if (domain != 4 && domain != 8) return {};
  std::size_t at = domain;
  for (int part = 0; part < 2; ++part) {  // bus, device
    if (at >= text.size() || text[at] != ':' || run(text, at + 1, is_hex).size() != 2) return {};
    at += 3;
  }
  if (at + 1 < text.size() && text[at] == '.' && is_digit(text[at + 1])) at += 2;
  return text.substr(0, at);
}

/// Domain of four digits and no function, in lower case: kernel, NVML and CUDA spell it apart.
std::string canonical_pci(std::string_view pci) {
  std::string made = lower(leading_pci(pci));
  if (made.empty()) return lower(pci);
  if (made.find(':') == 8) made.erase(0, 4);
  return made.substr(0, made.find('.'));
}

/// "GPU-5f1c2d3e": the UUID, or its first digits, that starts the text; else empty.
std::string_view leading_uuid(std::string_view text) {
  if (!text.starts_with("GPU-") && !text.starts_with("MIG-")) return {};
  constexpr std::size_t kPrefix = 4, kFewest = 4;
  std::string_view digits = run(text, kPrefix, [](char c) { return is_hex(c) || c == '-'; });
  while (digits.ends_with('-')) digits.remove_suffix(1);
  if (digits.size() < kFewest) return {};
  return text.substr(0, kPrefix + digits.size());
}

std::string_view leading_path(std::string_view text) {
  const bool rooted = text.starts_with('/') || text.starts_with("~/");
  if (!rooted) return {};
  const std::string_view path = run(text, 0, [](char c) { return !ends_path(c); });
  return path.size() >= 2 ? path : std::string_view{};
}

void learn(Disguise& disguise, std::string_view name, const std::string& replacement) {
  // One or two letters would be found in every text; the column itself is replaced anyway.
  if (name.size() < 3) return;
  disguise.known.try_emplace(lower(name), replacement);
}

void learn_paths(Disguise& disguise, std::string_view value) {
  for (std::size_t at = 0; at < value.size();) {
    const std::string_view word = run(value, at, [](char c) { return !ends_path(c); });
    if (word.find('/') != std::string_view::npos) {
      learn(disguise, word, disguised(disguise, "path", word));
    }
    at += word.size() + 1;
  }
}

/// The known name that starts at `at` and ends with a word, longest first.
std::size_t known_at(const Disguise& disguise, const std::string& lowered, std::size_t at,
                     std::string& replacement) {
  for (const std::size_t length : disguise.lengths) {
    if (length > lowered.size() - at) continue;
    const std::size_t end = at + length;
    if (end < lowered.size() && is_alphanumeric(lowered[end])) continue;
    const auto found = disguise.known.find(lowered.substr(at, length));
    if (found == disguise.known.end()) continue;
    replacement = found->second;
    return length;
  }
  return 0;
}

/// What stands at the start of a word and must go: its length, 0 for nothing.
std::size_t shape_at(const Disguise& disguise, std::string_view text, std::string& replacement) {
  if (const auto uuid = leading_uuid(text); !uuid.empty()) {
    const std::string key = lower(uuid);
    const auto whole = disguise.known.lower_bound(key);  // a leading part sorts before the whole
    const bool known = whole != disguise.known.end() && whole->first.starts_with(key);
    replacement = known ? whole->second : disguised_uuid(disguise, uuid);
    return uuid.size();
  }
  if (const auto pci = leading_pci(text); !pci.empty()) {
    replacement = disguised_pci(disguise, pci);
    return pci.size();
  }
  const auto path = leading_path(text);
  if (!path.empty()) replacement = disguised(disguise, "path", path);
  return path.size();
}

}  // namespace

std::string disguised(const Disguise& disguise, std::string_view kind, std::string_view name) {
  if (name.empty()) return {};
  const std::uint64_t hash = salted_hash(disguise.salt, lower(name));
  return fmt::format("{}-{:012x}", kind, hash >> 16);
}

std::string disguised_uuid(const Disguise& disguise, std::string_view uuid) {
  if (uuid.empty()) return {};
  return fmt::format("GPU-anon-{:016x}", salted_hash(disguise.salt, lower(uuid)));
}

std::string disguised_pci(const Disguise& disguise, std::string_view pci) {
  return disguised(disguise, "pci", canonical_pci(pci));
}

Disguise disguise_for(const LaunchRecord& launch, const std::vector<NodeRecord>& nodes,
                      const std::vector<GpuRecord>& gpus) {
  Disguise made{.salt = launch.run_id, .known = {}, .lengths = {}};
  for (const NodeRecord& node : nodes) {
    const std::string replacement = disguised(made, "host", node.hostname);
    learn(made, node.hostname, replacement);
    learn(made, node.hostname.substr(0, node.hostname.find('.')), replacement);
    learn(made, node.boot_id, disguised(made, "boot", node.boot_id));
  }
  for (const GpuRecord& gpu : gpus) {
    learn(made, gpu.uuid, disguised_uuid(made, gpu.uuid));
    learn(made, gpu.serial, disguised(made, "serial", gpu.serial));
    const std::string pci = canonical_pci(gpu.pci);
    learn(made, gpu.pci, disguised_pci(made, gpu.pci));
    const std::size_t bus = pci.find(':');  // "1b:00", as many tools print it
    if (bus != std::string::npos) {
      learn(made, pci.substr(bus + 1), disguised_pci(made, pci));
      learn(made, pci.substr(bus + 1) + ".0", disguised_pci(made, pci));
    }
  }
  for (const std::string& argument : launch.arguments) learn_paths(made, argument);
  for (const auto& [variable, value] : launch.environment) learn_paths(made, value);
  std::set<std::size_t, std::greater<>> lengths;
  for (const auto& [name, replacement] : made.known) lengths.insert(name.size());
  made.lengths.assign(lengths.begin(), lengths.end());
  return made;
}

std::string scrubbed(const Disguise& disguise, std::string_view text) {
  const std::string lowered = lower(text);
  std::string made;
  for (std::size_t at = 0; at < text.size();) {
    const bool word_starts = at == 0 || !is_alphanumeric(text[at - 1]);
    std::string replacement;
    std::size_t length = 0;
    if (word_starts) {
      length = known_at(disguise, lowered, at, replacement);
      if (length == 0) length = shape_at(disguise, text.substr(at), replacement);
    }
    if (length == 0) {
      made += text[at++];
    } else {
      made += replacement;
      at += length;
    }
  }
  return made;
}

bool names_someone(std::string_view variable) {
  constexpr std::string_view kNaming[] = {"HOST", "NODE", "USER", "ACCOUNT", "ADDR", "DIR"};
  return std::any_of(std::begin(kNaming), std::end(kNaming), [&](std::string_view part) {
    return variable.find(part) != std::string_view::npos;
  });
}

}  // namespace tidemark
