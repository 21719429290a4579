// One line a word. GoogleTest, ctest, pytest, OpenDCDiag and NVBench are where they come from.
#include "harness/command_line/other_words.hpp"

#include <algorithm>
#include <array>

namespace tidemark::harness {
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

}  // namespace tidemark::harness
