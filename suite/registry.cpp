// Collects the cases that were linked in, without anybody naming them.
#include "suite/registry.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "kernels/error.hpp"
#include "suite/case.hpp"

namespace tidemark {
namespace {

// A function's static: case files register before main, in no particular order.
std::vector<Case>& registered() {
  static std::vector<Case> cases;
  return cases;
}

const std::vector<Case>& catalogue() {
  static const std::vector<Case> sorted = sorted_catalogue(registered());
  return sorted;
}

constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

}  // namespace

Register::Register(const Case& declared) { registered().push_back(declared); }

bool well_formed_case_name(std::string_view name) {
  bool word_begins = true;
  bool dotted = false;
  for (const char c : name) {
    const bool plain = is_lower(c) || (c >= '0' && c <= '9');
    if (!plain && (word_begins || (c != '.' && c != '_'))) return false;
    word_begins = c == '.';
    dotted = dotted || word_begins;
  }
  return dotted && !word_begins;
}

std::vector<Case> sorted_catalogue(std::vector<Case> cases) {
  std::sort(cases.begin(), cases.end(),
            [](const Case& a, const Case& b) { return a.name < b.name; });
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string_view name = cases[i].name;
    if (!well_formed_case_name(name))
      throw Error(fmt::format(
          "case '{}': malformed name; use lower-case words with dots between, general to special",
          name));
    if (i > 0 && cases[i - 1].name == name)
      throw Error(
          fmt::format("case '{}' is registered twice; give one of them another name", name));
  }
  return cases;
}

std::span<const Case> all_cases() { return catalogue(); }

const Case* case_named(std::string_view name) {
  for (const Case& which : catalogue())
    if (which.name == name) return &which;
  return nullptr;
}

std::uint64_t case_seed(std::uint64_t launch_seed, std::string_view name) {
  return splitmix64(launch_seed + splitmix64(fnv1a(name)));
}

}  // namespace tidemark
