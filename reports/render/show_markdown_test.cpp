// Markdown of a report: what it says, how large it gets, and what cmark makes of it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "reports/base/scratch_folder.hpp"
#include "reports/render/show.hpp"
#include "reports/testing/example_launch.hpp"
#include "reports/testing/foreign_reader.hpp"
#include "reports/testing/hostile_report.hpp"
#include "reports/testing/said.hpp"

namespace tidemark {
namespace {

std::string markdown(const Report& report) { return show(report, {}, "md"); }

TEST(ShowMarkdown, OfAMixedFleetNamesTheSmThatFailed) {
  Report report = example();
  report.sms.clear();
  report.gpus.resize(1024, report.gpus[0]);
  for (std::uint32_t gpu = 0; gpu < report.gpus.size(); ++gpu) {
    report.gpus[gpu].gpu_id = gpu;
    for (std::uint32_t sm = 0; sm < 132 - gpu % 2; ++sm) {
      report.sms.push_back({.gpu_id = gpu, .sm = sm, .rows_run = 10, .rows_failed = 0});
    }
  }
  report.sms[17].rows_failed = 3;
  const std::string text = markdown(report);
  EXPECT_TRUE(has(text,
                  "\nSMs: visited 131 of 132 on GPUs 1, 3, 5, 7, 9, 11, 13, 15 and 504 more; 132 "
                  "of 132 on GPUs 0, 2, 4, 6, 8, 10, 12, 14 and 504 more\n"));
  EXPECT_TRUE(has(text, "SM 17: 3 of 10 rows failed, no other SM failed`\n")) << text;
}

TEST(ShowMarkdown, ANumberOfACaseThatDidNotPassDoesNotCount) {
  Report report = example();
  report.results[5].verdict = Verdict::fail;  // the speed on GPU 1
  EXPECT_TRUE(has(markdown(report), "| `rate` | 1 of 2 | 701 | 701 | 701 |"));
}

TEST(ShowMarkdown, SaysVirtualAndIncomplete) {
  Report report = assemble(example_journals(), {.incomplete_reason = "gone"});
  report.launch.is_virtual = true;
  const std::string text = markdown(report);
  EXPECT_TRUE(text.starts_with("## tidemark: FAIL (VIRTUAL)\n"));
  EXPECT_TRUE(has(text, "**VIRTUAL device: nothing here was measured on a GPU**"));
  EXPECT_TRUE(has(text, "**INCOMPLETE REPORT:** `gone`"));
  EXPECT_TRUE(
      has(text, "### What was measured\n\nVIRTUAL: the numbers below are of a model on a CPU"));
}

TEST(ShowMarkdown, StaysUnderItsSizeAndSaysWhatFoundNoRoom) {
  Report report = example();
  const ResultRow failure = report.results[3];
  for (int i = 0; i < 3000; ++i) {
    report.strings.push_back(fmt::format("{} {}", i, std::string(5000, 'x')));
    report.results.push_back(failure);
    report.results.back().reason = static_cast<std::uint32_t>(report.strings.size() - 1);
  }
  for (ProvenanceRow& row : report.provenance) row.value = report.results.back().reason;
  const std::string text = markdown(report);
  EXPECT_LT(text.size(), kMostMarkdownBytes);
  EXPECT_TRUE(has(text, "blocks found no room here;"));
  EXPECT_TRUE(has(text, "| `gemm.distributed.speed` |"));
  EXPECT_TRUE(has(text, "- level:"));
}

TEST(ShowMarkdown, NothingHostileBecomesMarkup) {
  const std::string html = harmless_html_of(markdown(hostile_report()));
  if (html.empty()) GTEST_SKIP() << kNoCmark;
  EXPECT_TRUE(has(html, "<table>")) << html;
  EXPECT_FALSE(has(html, "language-sh")) << "a command of a case whose name is no case's";
}

}  // namespace
}  // namespace tidemark
