// The launches that the golden reports are of: whole, ended early, and without results; the first
// of them as the next version of the schema may write it, and as show has it in each format.
#pragma once

#include <fmt/format.h>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reports/render/show.hpp"
#include "reports/store/report.hpp"
#include "reports/testing/example_launch.hpp"
#include "reports/testing/newer_report.hpp"

namespace tidemark {

struct GoldenLaunch {
  std::string_view file;
  std::vector<std::string> (*journals)();
  std::string_view incomplete_reason;
};

/// Rank 1 was killed: its journal ends inside a line, and nothing came of its last case.
inline std::vector<std::string> journals_of_a_killed_rank() {
  std::string killed = journal_of({example_launch(1), example_node(1), example_gpu(1),
                                   example_failure(1, "load.tile.2d"),
                                   EventRecord{.at_unix_s = 1788220805,
                                               .gpu = 1,
                                               .source = "nvml",
                                               .code = 79,
                                               .text = "the GPU has fallen off the bus"}});
  killed += to_line(example_outcome(1, "zfill.corner")).substr(0, 40);
  return {example_journals()[0], killed};
}

inline std::vector<std::string> journals_without_results() {
  LaunchRecord launch = example_launch(0);
  launch.cases.clear();
  return {journal_of({launch})};
}

inline constexpr std::array<GoldenLaunch, 3> kGoldenLaunches = {{
    {"whole.h5", example_journals, ""},
    {"ended_early.h5", journals_of_a_killed_rank, "rank 1 was killed"},
    {"no_results.h5", journals_without_results, "stopped before the first case"},
}};

inline Report report_of(const GoldenLaunch& golden) {
  return assemble(golden.journals(),
                  {.anonymize = false, .incomplete_reason = std::string(golden.incomplete_reason)});
}

/// What show says of the first of them, a file each format.
struct GoldenView {
  std::string_view file;
  std::string_view format;
};

inline constexpr std::array<GoldenView, 5> kGoldenViews = {{
    {"whole.txt", kTerminal},
    {"whole.md", "md"},
    {"whole.csv", "csv"},
    {"whole.json", "json"},
    {"whole.junit.xml", "junit"},
}};

inline std::string text_of(const GoldenView& view) {
  const auto replayed_by = [](std::uint32_t result) {
    return fmt::format("tidemark replay whole.h5 --result {}", result);
  };
  return show(report_of(kGoldenLaunches[0]), {.replayed_by = replayed_by}, view.format);
}

inline constexpr std::string_view kNewerMinor = "newer_minor.h5";

inline std::string image_of_newer_minor() {
  return image_of_another_version(report_of(kGoldenLaunches[0]), kSchemaMajor, kSchemaMinor + 1);
}

}  // namespace tidemark
