// One pass over a text: at each start of a word the longest known name is tried, then the shapes of
// a UUID, a PCI address and a path. What was put in is not looked at again.
#include "reports/store/assemble/anonymise.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <set>
#include <system_error>

#include "reports/error.hpp"

namespace tidemark::reports {
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

SipKey random_key() {
  SipKey key{};
  ssize_t got = -1;
  do {
    got = ::getrandom(&key, sizeof key, 0);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof key)) {
    throw ReportError(fmt::format("no random numbers to hide names with: {}; leave --anonymise out",
                                  std::generic_category().message(errno)));
  }
  return key;
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
  constexpr std::size_t kPrefix = 4, kFewestDigits = 4;
  std::string_view digits = run(text, kPrefix, [](char c) { return is_hex(c) || c == '-'; });
  while (digits.ends_with('-')) digits.remove_suffix(1);
  if (digits.size() < kFewestDigits) return {};
  return text.substr(0, kPrefix + digits.size());
}

std::string_view leading_path(std::string_view text) {
  const bool rooted = text.starts_with('/') || text.starts_with("~/");
  if (!rooted) return {};
  const std::string_view path = run(text, 0, [](char c) { return !ends_path(c); });
  return path.size() >= 2 ? path : std::string_view{};
}

/// Fewest letters of most names: one or two would be found in every text, and the column itself is
/// replaced anyway.
constexpr std::size_t kFewest = 3;

void learn(Disguise& disguise, std::string_view name, const std::string& replacement,
           std::size_t fewest = kFewest) {
  if (name.size() < std::max<std::size_t>(fewest, 1)) return;
  disguise.known.try_emplace(lower(name), replacement);
}

void learn_path(Disguise& disguise, std::string_view path) {
  learn(disguise, path, disguised(disguise, "path", path));
}

void learn_paths(Disguise& disguise, std::string_view value) {
  for (std::size_t at = 0; at < value.size();) {
    const std::string_view word = run(value, at, [](char c) { return !ends_path(c); });
    if (word.find('/') != std::string_view::npos) learn_path(disguise, word);
    at += word.size() + 1;
  }
}

/// A path with spaces cannot be told from the text around it, so it is known as a whole, and so are
/// the folders with spaces that it lies in.
void learn_whole_path(Disguise& disguise, std::string_view path) {
  for (std::size_t slash = path.find('/'); slash != std::string_view::npos;
       slash = path.find('/', slash + 1)) {
    const std::string_view folder = path.substr(0, slash);
    if (folder.find(' ') != std::string_view::npos) learn_path(disguise, folder);
  }
  learn_path(disguise, path);
}

constexpr std::string_view kOut = "--out", kOutIs = "--out=";

/// "--log=a/b": "a/b"; an argument that is no option: all of it.
std::string_view value_of(std::string_view argument) {
  const std::size_t equals = argument.find('=');
  if (!argument.starts_with('-') || equals == std::string_view::npos) return argument;
  return argument.substr(equals + 1);
}

void learn_arguments(Disguise& disguise, const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i], value = value_of(argument);
    const bool is_out = (i > 0 && arguments[i - 1] == kOut) || argument.starts_with(kOutIs);
    if (is_out || value.find('/') != std::string_view::npos) learn_whole_path(disguise, value);
    learn_paths(disguise, argument);
  }
}

/// "0,1,2" or "4194304", but no address of a machine.
bool is_numbers(std::string_view value) {
  return !value.empty() &&
         std::all_of(value.begin(), value.end(), [](char c) { return is_digit(c) || c == ','; });
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
  const std::uint64_t hash = siphash(disguise.salt, lower(name));
  return fmt::format("{}-{:012x}", kind, hash >> 16);
}

std::string disguised_uuid(const Disguise& disguise, std::string_view uuid) {
  if (uuid.empty()) return {};
  return fmt::format("GPU-anon-{:016x}", siphash(disguise.salt, lower(uuid)));
}

std::string disguised_pci(const Disguise& disguise, std::string_view pci) {
  return disguised(disguise, "pci", canonical_pci(pci));
}

Disguise disguise_for(const LaunchRecord& launch, const std::vector<NodeRecord>& nodes,
                      const std::vector<GpuRecord>& gpus) {
  Disguise made{.salt = random_key(), .known = {}, .lengths = {}};
  const auto learn_host = [&made](const std::string& host) {
    const std::string replacement = disguised(made, "host", host);
    // However short: a machine's name is never let through, at the price of a word of the text.
    learn(made, host, replacement, 1);
    learn(made, host.substr(0, host.find('.')), replacement, 1);
  };
  for (const std::string& host : launch.hosts) learn_host(host);
  for (const NodeRecord& node : nodes) {
    learn_host(node.hostname);
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
  learn_arguments(made, launch.arguments);
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

std::vector<std::string> scrubbed_arguments(const Disguise& disguise,
                                            const std::vector<std::string>& arguments) {
  std::vector<std::string> made;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (i > 0 && arguments[i - 1] == kOut) {
      made.push_back(disguised(disguise, "path", argument));
    } else if (argument.starts_with(kOutIs)) {
      made.push_back(std::string(kOutIs) + disguised(disguise, "path", value_of(argument)));
    } else {
      made.push_back(scrubbed(disguise, argument));
    }
  }
  return made;
}

std::string scrubbed_variable(const Disguise& disguise, std::string_view variable,
                              std::string_view value) {
  constexpr std::string_view kHarmless[] = {"CUDA_MODULE_LOADING", "CUDA_DEVICE_MAX_CONNECTIONS",
                                            "NCCL_ALGO",           "NCCL_PROTO",
                                            "NCCL_P2P_LEVEL",      "NCCL_NVLS_ENABLE",
                                            "NCCL_DEBUG",          "TIDEMARK_TEST_HOOK",
                                            "TIDEMARK_TEST_DELAYS"};
  const bool harmless =
      std::find(std::begin(kHarmless), std::end(kHarmless), variable) != std::end(kHarmless);
  if (!harmless && !is_numbers(value)) return disguised(disguise, "value", value);
  return scrubbed(disguise, value);
}

}  // namespace tidemark::reports
