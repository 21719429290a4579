// A history as Markdown and as JUnit XML.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "reports/base/scratch_folder.hpp"
#include "reports/render/show.hpp"
#include "reports/testing/example_nights.hpp"
#include "reports/testing/foreign_reader.hpp"
#include "reports/testing/hostile_report.hpp"
#include "reports/testing/said.hpp"

namespace tidemark {
namespace {

std::string markdown(const History& history, const ShowOptions& options = {}) {
  return show_history(history, options, "md");
}

std::string junit(const History& history, const ShowOptions& options = {}) {
  return show_history(history, options, "junit");
}

/// A step at night 12; zfill.corner fails from night 15 on, zfill.whole was skipped in all.
Chronicle remarkable(bool is_virtual = false) {
  Chronicle all;
  for (std::uint32_t i = 0; i < 20; ++i) {
    const double level = (600 + 0.2 * wobble(i)) * (i >= 12 ? 0.95 : 1);
    LaunchFacts facts = night(i, {level, level, level + 1}, i >= 12 ? "590.1" : "580.1");
    facts.launch.is_virtual = is_virtual;
    facts.cases.insert(facts.cases.end(), {"zfill.corner", "zfill.whole"});
    facts.over_all_gpus.resize(3, false);
    facts.verdicts.resize(6, i >= 15 ? Verdict::fail : Verdict::pass);
    facts.verdicts.resize(9, Verdict::skip);
    facts.descriptors.resize(9, 0);
    facts.rows.resize(9, 10);
    record_launch(all, facts);
  }
  return all;
}

TEST(HistoryMarkdown, SaysWhatFailsWhatChangedAndHowEveryMetricWent) {
  const std::string text = markdown(history_of(remarkable(), {}), {.refused = {"x.h5: is empty"}});
  for (const char* part :
       {"## tidemark history\n\n20 launches, 2026-09-01T00:00:00Z to 2026-09-20T00:00:00Z; 3 "
        "GPUs\n",
        "1 file not read",
        "**FAILING** `zfill.corner` `since 2026-09-16T00:00:00Z (5 launches in a row), fail on GPU "
        "0",
        "**2026-09-13T00:00:00Z** step at `driver 580.1 -> 590.1`<br>\n"
        "between `night-11.h5` and `night-12.h5`\n\n"
        "- **worse**  -5.0 %  `gemm.local.speed rate (nightly)`",
        "| `gemm.local.speed` | `rate` | `nightly` | 20 |", "| `TFLOP/s` | `changed` |"}) {
    EXPECT_TRUE(has(text, part)) << part << "\n" << text;
  }
}

TEST(HistoryMarkdown, StaysUnderItsSizeAndSaysWhatFoundNoRoom) {
  History made = history_of(remarkable(), {});
  made.cases.resize(3000, made.cases.front());
  made.events.resize(3000, made.events.front());
  made.metrics.resize(3000, made.metrics.front());
  const std::string text = markdown(made, {});
  EXPECT_LT(text.size(), kMostMarkdownBytes);
  EXPECT_TRUE(has(text, "blocks found no room here; `tidemark history --all`"));
}

TEST(HistoryMarkdown, NothingHostileBecomesMarkup) {
  if (harmless_html_of(markdown(hostile_history(), {.refused = {kHostileText}})).empty())
    GTEST_SKIP() << kNoCmark;
}

TEST(HistoryJunit, AFailingCaseFailsAndWhatWasSkippedIsNoPass) {
  const std::string text = junit(history_of(remarkable(), {}));
  EXPECT_TRUE(has(text, "tests=\"4\" failures=\"1\" errors=\"0\" skipped=\"1\"")) << text;
  EXPECT_TRUE(has(text,
                  "name=\"zfill.corner\" time=\"0.000000\">\n      <failure type=\"failing\" "
                  "message=\"failing since 2026-09-16T00:00:00Z (5 launches in a row); changed "
                  "since it passed: nothing that was recorded\">"))
      << text;
}

TEST(HistoryJunit, AnIncompleteNewestReportIsAnError) {
  Chronicle all = remarkable();
  all.launches.back().incomplete_reason = "interrupted";
  EXPECT_TRUE(has(junit(history_of(std::move(all), {})),
                  "<error type=\"incomplete\" message=\"interrupted\">"));
}

TEST(HistoryJunit, NothingOfTheVirtualDeviceIsAPass) {
  const std::string text = junit(history_of(remarkable(true), {}));
  EXPECT_TRUE(has(text, "tests=\"4\" failures=\"0\" errors=\"0\" skipped=\"4\"")) << text;
}

TEST(HistoryJunit, IsReadByAReaderThatIsNotOurs) {
  const std::string python = interpreter_with("junitparser");
  if (python.empty()) GTEST_SKIP() << "no junitparser: a reader was not tried";
  const ScratchFolder scratch;
  std::ofstream(scratch.file("a.xml")) << junit(hostile_history());
  std::ofstream(scratch.file("read.py"))
      << "import junitparser, sys\n"
         "for suite in junitparser.JUnitXml.fromfile(sys.argv[1]): print(suite.tests, "
         "suite.failures, suite.errors)\n";
  EXPECT_EQ(output_of(fmt::format("{} {} {} 2>&1", python, scratch.file("read.py"),
                                  scratch.file("a.xml"))),
            "4 1 1\n");
}

}  // namespace
}  // namespace tidemark
