// The one reader of policy files.
#include "reports/policy/policy.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "reports/base/disk.hpp"
#include "reports/base/words.hpp"
#include "reports/compare/comparison.hpp"

namespace tidemark {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20;
constexpr double kMostPercent = 50;  // as --floor
/// Of one text, bytes: it stands beside every result that is waived, on every page.
constexpr std::size_t kLongestText = 300;

/// Text of the file in a line that refuses it.
std::string shown_text(std::string_view text) {
  constexpr std::size_t kShown = 80;
  return printable(text.substr(0, kShown)) + (text.size() > kShown ? "..." : "");
}

/// What moves a terminal or hides what stands beside it: control characters of ASCII and of
/// Unicode (U+0080 to U+009F), its line breaks and its changes of direction.
bool is_plain(std::string_view text) {
  const auto byte = [&](std::size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    const unsigned first = byte(at), second = byte(at + 1), third = byte(at + 2);
    if (first < 0x20 || first == 0x7f) return false;
    if (first == 0xc2 && second < 0xa0) return false;
    if (first == 0xe2 && second == 0x80 && third >= 0xa8 && third <= 0xae) return false;
    if (first == 0xe2 && second == 0x81 && third >= 0xa6 && third <= 0xa9) return false;
  }
  return true;
}

/// A value of the file and where it stands there.
struct At {
  const std::string& file;
  std::string pointer;
  const nlohmann::json& value;

  [[noreturn]] void refuse(const std::string& what) const {
    throw ReportError(fmt::format("policy {}: {} {}", file, pointer.empty() ? "/" : pointer, what));
  }
};

At inside(const At& at, const std::string& key) {
  return {at.file, at.pointer + "/" + key, at.value.at(key)};
}

/// As RFC 6901 writes a key within a pointer.
std::string escaped(const std::string& key) {
  std::string made;
  for (const char c : key) made += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return made;
}

void check_object(const At& at, const std::vector<std::string_view>& known) {
  if (!at.value.is_object()) at.refuse(fmt::format("is {}; give an object", at.value.type_name()));
  for (const auto& [key, value] : at.value.items()) {
    if (std::ranges::find(known, key) != known.end()) continue;
    throw ReportError(fmt::format("policy {}: {}/{} is not known; give one of {}", at.file,
                                  at.pointer, shown_text(escaped(key)), fmt::join(known, ", ")));
  }
}

std::vector<At> elements_of(const At& at) {
  if (!at.value.is_array()) at.refuse(fmt::format("is {}; give an array", at.value.type_name()));
  std::vector<At> made;
  made.reserve(at.value.size());
  for (std::size_t i = 0; i < at.value.size(); ++i)
    made.push_back({at.file, fmt::format("{}/{}", at.pointer, i), at.value.at(i)});
  return made;
}

std::string line_of(const At& at) {
  if (!at.value.is_string()) at.refuse(fmt::format("is {}; give a text", at.value.type_name()));
  std::string text = at.value.get<std::string>();
  if (text.find_first_not_of(' ') == std::string::npos) at.refuse("is empty; give a text");
  if (!is_plain(text)) at.refuse("has a control character; give one line of plain text");
  if (text.size() > kLongestText)
    at.refuse(fmt::format("has {} bytes; give at most {}", text.size(), kLongestText));
  return text;
}

std::string required(const At& at, const std::string& key, std::string_view what) {
  if (!at.value.contains(key)) {
    throw ReportError(
        fmt::format("policy {}: {}/{} is missing; give {}", at.file, at.pointer, key, what));
  }
  return line_of(inside(at, key));
}

std::string optional_line(const At& at, const std::string& key) {
  return at.value.contains(key) ? line_of(inside(at, key)) : std::string();
}

template <class Names>
std::vector<std::string> names_in(const At& at, const Names& known) {
  std::vector<std::string> made;
  // Names of variables are the user's own, and there may be many.
  std::vector<std::string> shown;
  for (const auto& each : known) {
    if (!std::string_view(each).starts_with("environment.")) shown.emplace_back(each);
  }
  for (const At& one : elements_of(at)) {
    std::string name = line_of(one);
    if (std::ranges::find(known, name) == known.end())
      one.refuse(fmt::format("is '{}'; give one of {}", shown_text(name), fmt::join(shown, ", ")));
    made.push_back(std::move(name));
  }
  return made;
}

/// A variable is named by what it is: environment.NCCL_ALGO.
std::vector<std::string> factors_in(const At& at) {
  std::vector<std::string> known;
  for (const std::string_view name : factor_names()) known.emplace_back(name);
  for (const At& one : elements_of(at)) {
    const auto* const name = one.value.get_ptr<const std::string*>();
    if (name != nullptr && name->starts_with("environment.")) known.push_back(*name);
  }
  return names_in(at, known);
}

double floor_in(const At& at) {
  const double percent = at.value.is_number() ? at.value.get<double>() : 0;
  if (!(percent > 0 && percent <= kMostPercent))
    at.refuse("is no percentage; give a number above 0 and at most 50");
  return percent / 100;
}

std::string driver_in(const At& at, const std::string& key) {
  std::string version = optional_line(at, key);
  if (!version.empty() && !is_driver_version(version))
    inside(at, key).refuse(fmt::format(
        "is '{}', no version of a driver; give one such as \"580.105.08\", or its start \"580\"",
        shown_text(version)));
  return version;
}

void read_drivers(const At& at, Waiver& waiver) {
  check_object(at, {"lowest", "highest"});
  waiver.lowest_driver = driver_in(at, "lowest");
  waiver.highest_driver = driver_in(at, "highest");
  const bool both = !waiver.lowest_driver.empty() && !waiver.highest_driver.empty();
  if (!both && waiver.lowest_driver == waiver.highest_driver)
    at.refuse("has no bound; give lowest, highest or both, or leave it out");
  if (both && against_bound(waiver.lowest_driver, waiver.highest_driver) > 0)
    at.refuse("has its lowest above its highest; exchange them");
}

Waiver waiver_in(const At& at) {
  check_object(at, {"case", "gpu", "owner", "link", "reason", "drivers", "expires", "waives"});
  Waiver made;
  made.cases = required(at, "case", "the name of a case, or a glob");
  made.gpu = optional_line(at, "gpu");
  made.owner = required(at, "owner", "the name of who answers for it");
  made.link = required(at, "link", "where it is followed, such as the address of a ticket");
  made.reason = optional_line(at, "reason");
  made.expires = required(at, "expires", "the last day it holds, YYYY-MM-DD");
  if (!is_day(made.expires))
    inside(at, "expires")
        .refuse(fmt::format("is '{}', no day; give YYYY-MM-DD", shown_text(made.expires)));
  if (at.value.contains("drivers")) read_drivers(inside(at, "drivers"), made);
  made.waives = {std::string(kWaivesNames[0])};
  if (at.value.contains("waives")) made.waives = names_in(inside(at, "waives"), kWaivesNames);
  if (made.waives.empty()) inside(at, "waives").refuse("is empty; leave it out, or say what");
  return made;
}

Policy policy_in(const At& at) {
  check_object(at, {"fail_on", "allow_confounders", "floor_percent", "floors", "waivers"});
  Policy made;
  if (at.value.contains("fail_on")) {
    std::vector<std::string_view> known = finding_names();
    known.emplace_back("none");
    made.fail_on = names_in(inside(at, "fail_on"), known);
    if (made.fail_on->empty()) inside(at, "fail_on").refuse("is empty; give names, or none");
    if (made.fail_on->size() > 1 && std::ranges::find(*made.fail_on, "none") != made.fail_on->end())
      inside(at, "fail_on").refuse("has none beside others; give one or the other");
  }
  if (at.value.contains("allow_confounders"))
    made.allow_confounders = factors_in(inside(at, "allow_confounders"));
  if (at.value.contains("floor_percent")) made.floor = floor_in(inside(at, "floor_percent"));
  if (at.value.contains("floors")) {
    for (const At& one : elements_of(inside(at, "floors"))) {
      check_object(one, {"case", "floor_percent"});
      const std::string cases = required(one, "case", "the name of a case, or a glob");
      if (!one.value.contains("floor_percent")) one.refuse("has no floor_percent; give a number");
      made.floors.push_back({cases, floor_in(inside(one, "floor_percent"))});
    }
  }
  if (at.value.contains("waivers")) {
    for (const At& one : elements_of(inside(at, "waivers"))) made.waivers.push_back(waiver_in(one));
  }
  return made;
}

/// The parser keeps the last of two equal keys; which one was meant nobody knows.
nlohmann::json parsed(const std::string& text, const std::string& name) {
  std::vector<std::set<std::string>> open;
  std::string twice;
  const auto watch = [&](int, nlohmann::json::parse_event_t event, nlohmann::json& value) {
    if (event == nlohmann::json::parse_event_t::object_start) open.emplace_back();
    if (event == nlohmann::json::parse_event_t::object_end) open.pop_back();
    if (event == nlohmann::json::parse_event_t::key &&
        !open.back().insert(value.get<std::string>()).second)
      twice = value.get<std::string>();
    return true;
  };
  // The parser takes it for the end, and what stands behind it would be ignored.
  if (text.find('\0') != std::string::npos)
    throw ReportError(fmt::format("policy {}: holds a byte of 0; give JSON", name));
  nlohmann::json made;
  try {
    made = nlohmann::json::parse(text, watch);
  } catch (const nlohmann::json::exception& error) {
    const std::string what = error.what();
    const std::size_t from = what.find("] ");
    // The parser quotes what it read last, which may be all of the file.
    constexpr std::size_t kLongestError = 200;
    const std::string said = printable(from == std::string::npos ? what : what.substr(from + 2));
    throw ReportError(fmt::format("policy {}: {}{}; give JSON", name, said.substr(0, kLongestError),
                                  said.size() > kLongestError ? "..." : ""));
  }
  if (!twice.empty())
    throw ReportError(
        fmt::format("policy {}: the key '{}' stands twice in one object; take one away", name,
                    shown_text(twice)));
  return made;
}

}  // namespace

Policy policy_of(const std::string& text, const std::string& name) {
  if (text.size() > kMostBytes)
    throw ReportError(fmt::format("policy {}: is larger than 1 MiB; give a smaller file", name));
  const nlohmann::json json = parsed(text, name);
  return policy_in({name, "", json});
}

Policy read_policy(const std::string& path) {
  const std::string_view hint = "give one that can be read again";  // it is read more than once
  return policy_of(file_text(path, kMostBytes, "policy " + path, hint), path);
}

}  // namespace tidemark
