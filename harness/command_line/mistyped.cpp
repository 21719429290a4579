// What a user may have meant by a mistyped name, or by a word of another tool.
#include "harness/command_line/mistyped.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace tidemark {

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
