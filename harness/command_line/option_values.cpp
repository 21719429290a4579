// Reads the values of options, and finds the words nearest to a mistyped one.
#include "harness/command_line/option_values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include "harness/base/environment.hpp"
#include "harness/base/errors.hpp"
#include "kernels/fault.hpp"

namespace tidemark {

// Splits what was typed.

std::vector<std::string> items_of(std::string_view option, const std::vector<std::string>& typed) {
  constexpr std::string_view kDividers = ", \t\n";
  std::vector<std::string> items;
  for (const std::string& argument : typed) {
    const std::size_t before = items.size();
    std::size_t begin = argument.find_first_not_of(kDividers);
    while (begin != std::string::npos) {
      const std::size_t end = argument.find_first_of(kDividers, begin);
      items.push_back(argument.substr(begin, end - begin));
      begin = argument.find_first_not_of(kDividers, end);
    }
    if (items.size() == before)
      throw UsageError(fmt::format("{} '{}': names nothing; give a name, or leave {} out", option,
                                   argument, option));
  }
  return items;
}

bool fails_on_outlier(const std::string& typed) {
  if (typed != "outlier" && typed != "none" && !typed.empty())
    throw UsageError(fmt::format("--fail-on '{}': give outlier or none", typed));
  return typed == "outlier";
}

// Text of the command line to values.

namespace {

constexpr std::array<std::string_view, 3> kLevels = {"quick", "nightly", "soak"};
constexpr std::array<std::string_view, 3> kDevices = {"auto", "cuda", "virtual"};
constexpr std::string_view kAnyTransport = "auto";

template <class Value>
bool reads_whole(std::string_view text, Value& value, int base) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && end == text.data() + text.size();
}

[[noreturn]] void refuse(std::string_view option, const std::string& text,
                         std::string_view wanted) {
  throw UsageError(fmt::format("{} '{}': {}", option, text, wanted));
}

}  // namespace

Level level_of(const std::string& text) {
  const auto found = std::find(kLevels.begin(), kLevels.end(), text);
  if (found == kLevels.end()) refuse("--level", text, "give quick, nightly or soak");
  return static_cast<Level>(found - kLevels.begin());
}

std::string level_names() { return fmt::format("{}", fmt::join(kLevels, "|")); }

std::string_view name_of(Level level) { return kLevels.at(static_cast<std::size_t>(level)); }

DeviceChoice device_of(const std::string& text) {
  const auto found = std::find(kDevices.begin(), kDevices.end(), text);
  if (found == kDevices.end()) refuse("--device", text, "give auto, cuda or virtual");
  return static_cast<DeviceChoice>(found - kDevices.begin());
}

std::string_view name_of(DeviceChoice device) {
  return kDevices.at(static_cast<std::size_t>(device));
}

std::string device_names() { return fmt::format("{}", fmt::join(kDevices, "|")); }

std::optional<PanelRoute> transport_of(const std::string& text) {
  if (text == kAnyTransport) return std::nullopt;
  for (const PanelRoute route : kPanelRoutes)
    if (name_of(route) == text) return route;
  refuse("--transport", text, "give auto, nccl, nccl_overlap, copy_engine or mpi");
}

std::string_view name_of(const std::optional<PanelRoute>& transport) {
  return transport ? name_of(*transport) : kAnyTransport;
}

std::string transport_names() {
  std::string names(kAnyTransport);
  for (const PanelRoute route : kPanelRoutes) names += fmt::format("|{}", name_of(route));
  return names;
}

void check_transport(const std::optional<PanelRoute>& transport, DeviceKind device) {
  if (!transport || (*transport == PanelRoute::relay) == (device == DeviceKind::virtual_device))
    return;
  refuse("--transport", std::string(name_of(*transport)),
         device == DeviceKind::virtual_device
             ? "the virtual device knows only mpi; give mpi, or leave it out"
             : "between GPUs panels travel by nccl, nccl_overlap or copy_engine; give one of "
               "them, or leave it out");
}

std::uint64_t seed_of(const std::string& text) {
  const bool hexadecimal = text.rfind("0x", 0) == 0 || text.rfind("0X", 0) == 0;
  std::uint64_t seed = 0;
  if (!reads_whole(std::string_view(text).substr(hexadecimal ? 2 : 0), seed, hexadecimal ? 16 : 10))
    refuse("--seed", text, "give a number of at most 64 bits, decimal or hexadecimal behind 0x");
  return seed;
}

std::uint32_t count_of(std::string_view option, const std::string& text, std::uint32_t least,
                       std::uint32_t most) {
  std::int64_t count = 0;
  if (!reads_whole(text, count, 10) || count < least || count > most)
    refuse(option, text,
           most == kAnyCount ? fmt::format("give a whole number, at least {}", least)
                             : fmt::format("give a whole number, {} to {}", least, most));
  return static_cast<std::uint32_t>(count);
}

double amount_of(std::string_view option, const std::string& text, std::string_view unit,
                 bool or_zero) {
  const double value = whole_number<double>(text).value_or(-1);
  if (!std::isfinite(value) || !(value > 0 || (or_zero && value == 0)))
    refuse(option, text, fmt::format("give {}, {}", unit, or_zero ? "0 or more" : "above 0"));
  return value;
}

double seconds_of(std::string_view option, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const std::string unit = end;
  const double factor = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (end == text.c_str() || !std::isfinite(value) || !(value * factor > 0))
    refuse(option, text, "give a time above 0, such as 90, 90s, 5m or 1.5h");
  return value * factor;
}

GemmShape whole_shape(const GemmShape& given) {
  constexpr std::string_view kNeedsN = "give --n, too: a product without it has its usual sizes";
  if (given.n == 0 && given.m != 0) refuse("--m", fmt::format("{}", given.m), kNeedsN);
  if (given.n == 0 && given.k != 0) refuse("--k", fmt::format("{}", given.k), kNeedsN);
  return {
      .m = given.m == 0 ? given.n : given.m, .n = given.n, .k = given.k == 0 ? given.n : given.k};
}

std::string shape_text(const GemmShape& shape) {
  if (shape.m == shape.n && shape.n == shape.k) return fmt::format("--n {}", shape.n);
  return fmt::format("--m {} --n {} --k {}", shape.m, shape.n, shape.k);
}

Grid grid_of(const std::string& text) {
  const char* const end = text.data() + text.size();
  Grid grid;
  const auto [middle, wrong_rows] = std::from_chars(text.data(), end, grid.rows);
  const bool has_rows = wrong_rows == std::errc() && middle != end && *middle == 'x';
  const auto [behind, wrong_cols] = std::from_chars(has_rows ? middle + 1 : end, end, grid.cols);
  if (!has_rows || wrong_cols != std::errc() || behind != end || grid.rows < 1 || grid.cols < 1)
    refuse("--grid", text, "give rows x columns of ranks, each at least 1, such as 2x4");
  return grid;
}

std::string grid_text(const Grid& grid) {
  return grid.rows == 0 ? "" : fmt::format("{}x{}", grid.rows, grid.cols);
}

void check_grid(const Grid& grid, std::uint32_t ranks) {
  const std::uint64_t places = std::uint64_t{grid.rows} * grid.cols;
  if (grid.rows == 0 || places == ranks) return;
  refuse("--grid", grid_text(grid),
         fmt::format("has {} places for {} GPUs; give rows and columns that multiply to {}", places,
                     ranks, ranks));
}

std::pair<std::string, double> slow_of(const std::string& text) {
  constexpr std::string_view kWanted =
      "give a benchmark and a share of 0.01 to 100 %, such as gemm.local.speed=3%";
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) refuse("--slow", text, kWanted);
  const std::string share = text.substr(equals + 1);
  double percent = 0;
  const auto [end, error] =
      std::from_chars(share.data(), share.data() + share.size(), percent, std::chars_format::fixed);
  const bool reads = error == std::errc() && std::string_view(end) == "%";
  if (!reads || !(percent >= 0.01 && percent <= 100)) refuse("--slow", text, kWanted);
  return {text.substr(0, equals), percent / 100};
}

PairBy pair_by_of(const std::string& text) {
  if (text != "uuid" && text != "number") refuse("--pair", text, "give uuid or number");
  return text == "uuid" ? PairBy::uuid : PairBy::number;
}

double floor_of(double percent) {
  if (!(percent > 0 && percent <= 50))
    refuse("--floor", fmt::format("{}", percent), "give percent, above 0 and at most 50");
  return percent / 100;
}

std::string without_percent_sign(std::string text) {
  if (text.ends_with('%')) text.erase(text.find_last_not_of(" %") + 1);
  return text;
}

std::string percent_of(double share) { return fmt::format("{:g}%", 100 * share); }

void check_fault(const std::string& name, DeviceChoice device) {
  if (device != DeviceChoice::virtual_device)
    refuse("--fault", name,
           "only the virtual device can be told to be wrong; add --device virtual");
  if (fault_named(name) != kNoFault) return;
  std::vector<std::string_view> known;
  for (const FaultInfo& fault : faults()) known.push_back(fault.name);
  std::string hint = did_you_mean(name, known);
  if (hint.empty()) {
    known.resize(std::min<std::size_t>(known.size(), 5));
    hint = fmt::format("there are {}, ...", fmt::join(known, ", "));
  }
  refuse("--fault", name, "there is no such fault; " + hint);
}

// Edit distance over names.

std::size_t edit_distance(std::string_view pattern, std::string_view name) {
  // Rows of the table: [j] is the distance between the pattern so far and j characters of the name.
  std::vector<std::size_t> before(name.size() + 1);  // two characters of the pattern ago
  std::vector<std::size_t> last(name.size() + 1);    // one ago
  std::vector<std::size_t> row(name.size() + 1);
  for (std::size_t j = 0; j <= name.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    std::swap(before, last);
    std::swap(last, row);
    const char wanted = pattern[i];
    const bool any_text = wanted == '*';
    row[0] = last[0] + (any_text ? 0 : 1);
    for (std::size_t j = 1; j <= name.size(); ++j) {
      // A star may end here for nothing, or swallow one more character for nothing.
      if (any_text) {
        row[j] = std::min(last[j], row[j - 1]);
        continue;
      }
      const bool same = wanted == '?' || wanted == name[j - 1];
      row[j] = std::min({last[j - 1] + (same ? 0U : 1U), last[j] + 1, row[j - 1] + 1});
      if (i > 0 && j > 1 && wanted == name[j - 2] && pattern[i - 1] == name[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[name.size()];
}

std::string did_you_mean(std::string_view pattern, std::span<const std::string_view> names,
                         std::size_t count) {
  std::size_t least = pattern.size() / 2;
  std::vector<std::string_view> nearest;
  for (const std::string_view name : names) {
    const std::size_t distance = edit_distance(pattern, name);
    if (distance > least) continue;
    if (distance < least) nearest.clear();
    least = distance;
    nearest.push_back(name);
  }
  std::string text;
  for (std::size_t i = 0; i < nearest.size() && i < count; ++i) {
    text += i == 0 ? "did you mean '" : ", '";
    text += nearest[i];
    text += '\'';
  }
  return text.empty() ? text : text + '?';
}

// One line a word. GoogleTest, ctest, pytest, OpenDCDiag, NVBench and older versions are where they
// come from.

namespace {

struct OtherWord {
  std::string_view option;
  std::string_view verbs;  // "run bench", or empty before the verb
  std::string_view advice;
};

constexpr std::string_view kLaunch = "run bench", kReaders = "show compare history";

constexpr std::array kWords = {
    OtherWord{"--filter", kLaunch, "use --cases GLOB"},
    OtherWord{"--filter", "list", "use --cases GLOB"},
    OtherWord{"--gtest_filter", kLaunch, "use --cases GLOB"},
    OtherWord{"--enable", kLaunch, "use --cases GLOB"},
    OtherWord{"--disable", kLaunch, "use --exclude GLOB"},
    OtherWord{"--benchmark", kLaunch, "use --cases GLOB"},
    OtherWord{"-k", kLaunch, "use --cases GLOB"},
    OtherWord{"-R", kLaunch, "use --cases GLOB"},
    OtherWord{"-E", kLaunch, "use --exclude GLOB"},
    OtherWord{"--timeout", kLaunch, "use --time-limit TIME for the whole run"},
    OtherWord{"-t", kLaunch, "use --time-limit TIME for the whole run"},
    OtherWord{"--repeat", kLaunch, "use --launches N, which makes N reports"},
    OtherWord{"--gtest_repeat", kLaunch, "use --launches N, which makes N reports"},
    OtherWord{"--count", kLaunch, "use --launches N, which makes N reports"},
    OtherWord{"--list", kLaunch, "'tidemark list' shows the cases"},
    OtherWord{"-l", kLaunch, "'tidemark list' shows the cases"},
    OtherWord{"--list-tests", kLaunch, "'tidemark list' shows the cases"},
    OtherWord{"--gtest_list_tests", kLaunch, "'tidemark list' shows the cases"},
    OtherWord{"--junit", kLaunch, "'tidemark show REPORT --junit' writes it from the report"},
    OtherWord{"--html", kLaunch, "'tidemark show REPORT --html' writes it from the report"},
    OtherWord{"--md", kLaunch, "'tidemark show REPORT --md' writes it from the report"},
    OtherWord{"--csv", kLaunch, "'tidemark show REPORT --csv' writes it from the report"},
    OtherWord{"-o", kLaunch, "use --out FILE.h5"},
    OtherWord{"--output", kLaunch, "use --out FILE.h5"},
    OtherWord{"-n", kLaunch, "use 'mpirun -n N tidemark ...' or --ranks N"},
    OtherWord{"-np", kLaunch, "use 'mpirun -n N tidemark ...' or --ranks N"},
    OtherWord{"--np", kLaunch, "use 'mpirun -n N tidemark ...' or --ranks N"},
    OtherWord{"-v", kLaunch, "'tidemark show REPORT --notes' tells all that a run noted"},
    OtherWord{"--verbose", kLaunch, "'tidemark show REPORT --notes' tells all that a run noted"},
    OtherWord{"-q", kLaunch, "send stdout to /dev/null; the exit code says how it went"},
    OtherWord{"--quiet", kLaunch, "send stdout to /dev/null; the exit code says how it went"},
    OtherWord{"--format", kReaders, "use one of --html, --md, --csv, --junit, --json"},
    OtherWord{"-o", kReaders, "it writes to stdout: use '> FILE'"},
    OtherWord{"--out", kReaders, "it writes to stdout: use '> FILE'"},
    OtherWord{"--output", kReaders, "it writes to stdout: use '> FILE'"},
    OtherWord{"--calibrate", kLaunch, "it is gone: compare takes noise from the reports it reads"},
    OtherWord{"--noise", "list compare", "it is gone: compare says which change it could detect"},
    OtherWord{"--list", "", "'tidemark list' shows the cases"},
    OtherWord{"-v", "", "use --version"},
    OtherWord{"-o", "", "'tidemark run --out FILE.h5' names the report"},
};

}  // namespace

std::string in_place_of(std::string_view verb, std::string_view option) {
  const auto found = std::find_if(kWords.begin(), kWords.end(), [&](const OtherWord& word) {
    const bool of_verb =
        verb.empty() ? word.verbs.empty() : word.verbs.find(verb) != std::string_view::npos;
    return word.option == option && of_verb;
  });
  return found == kWords.end() ? "" : std::string(found->advice);
}

}  // namespace tidemark
