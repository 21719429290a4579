// A comparison as a page, Markdown, CSV and JUnit XML: what they say, and what readers that are not
// ours make of them.
#include "reports/render/show.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "reports/base/scratch_folder.hpp"
#include "reports/document/comparison/document.hpp"
#include "reports/testing/foreign_reader.hpp"
#include "reports/testing/hostile_report.hpp"
#include "reports/testing/said.hpp"
#include "reports/testing/seen_in_chromium.hpp"
#include "reports/testing/two_sides.hpp"

namespace tidemark {
namespace {

const std::set<std::string> kUsual = {"regressed", "new_fail", "missing_in_new"};

/// Case 3 fails on GPU 5 for a reason of its own; GPU 2 failed it before, and does so still.
std::vector<Report> with_failures(std::vector<Report> made, bool fresh) {
  for (Report& report : made) {
    const auto fail = [&report](std::uint32_t gpu) {
      ResultRow& result = report.results[3 * 16 + gpu];
      result.verdict = Verdict::fail;
      report.strings.push_back(fmt::format("reason of GPU {}", gpu));
      result.reason = static_cast<std::uint32_t>(report.strings.size() - 1);
      report.strings.push_back(fmt::format("tidemark run --gpus {}", gpu));
      result.replay = static_cast<std::uint32_t>(report.strings.size() - 1);
    };
    fail(2);
    if (fresh) fail(5);
  }
  return made;
}

/// The first case is slower, a failure is new, and one is not.
Comparison remarkable() {
  return held(with_failures(side(false), false),
              with_failures(side(true, {.first_case = -0.05}), true));
}

std::string html(const Comparison& comparison, bool all = false) {
  return show_comparison(comparison, {.all = all}, "html");
}

std::string markdown(const Comparison& comparison) { return show_comparison(comparison, {}, "md"); }

std::string csv(const Comparison& comparison) { return show_comparison(comparison, {}, "csv"); }

std::string junit(const Comparison& comparison, const std::set<std::string>& fail_on) {
  return show_comparison(comparison, {.fail_on = fail_on}, "junit");
}

/// What a Python program that takes the file's path as argument says of a document.
std::string said_of(const std::string& document, const std::string& program,
                    const std::string& python = "python3") {
  const ScratchFolder scratch;
  std::ofstream(scratch.file("document")) << document;
  std::ofstream(scratch.file("read.py")) << program;
  return output_of(
      fmt::format("{} {} {} 2>&1", python, scratch.file("read.py"), scratch.file("document")));
}

TEST(ComparisonHtml, HoldsVerdictCauseFindingsReplayMapPlotsAndWhatElseDiffers) {
  const std::string text = html(remarkable());
  for (const char* part :
       {"<span class=\"badge bad\">REGRESSION</span> tidemark comparison</h1>",
        "cause: the driver 580.105.08 -&gt; 590.44.01, or the boot: nothing else differs",
        "<span class=\"badge bad\">NEW FAIL</span> <span><code>synthetic.case_0003</code></span>",
        "<li><span class=\"bad\">REGRESSED</span> synthetic.case_0000/rate",
        "aria-label=\"changes by place and case\"",
        "<title>synthetic.case_0003 on n000 GPU 5: new_fail (1 of 1 changed)</title>",
        "<h3>synthetic.case_0000 rate: REGRESSED -4.", "<td>driver</td><td>580.105.08</td>",
        "smallest change that would have been seen 8 times of 10"}) {
    EXPECT_TRUE(has(text, part)) << part;
  }
}

TEST(ComparisonJunit, WhatIsSlowerWithAllTheOthersFailsAsARegression) {
  const Comparison made = held(side(false), side(true, {.all_cases = -0.03}));
  ASSERT_EQ(made.speed.series[0].verdict, SpeedVerdict::with_all);
  const std::string text = junit(made, kUsual);
  EXPECT_TRUE(has(text, "<failure type=\"regressed\" message=\"WITH ALL synthetic.case_0000/rate"))
      << text;
}

TEST(ComparisonHtml, TheMapShowsTheWorstMetricOfACase) {
  std::vector<Report> base = side(false), fresh = side(true);
  for (std::vector<Report>* const reports : {&base, &fresh}) {
    for (Report& report : *reports) {
      report.strings.emplace_back("second");
      const auto name = static_cast<std::uint32_t>(report.strings.size() - 1);
      const std::size_t metrics = report.metrics.size();
      for (std::size_t i = 0; i < metrics; ++i) {
        MetricRow second = report.metrics[i];
        second.name = name;
        if (reports == &fresh && second.result_id < 16) second.median *= 0.9;
        report.metrics.push_back(second);
      }
    }
  }
  const std::string text = html(held(base, fresh));
  EXPECT_TRUE(has(text, "synthetic.case_0000 on n000 GPU 0: passes as before, -9."));
}

TEST(ComparisonHtml, AFailureHasTheReasonAndReplayLineOfAGpuThatItIsAbout) {
  const std::string text = html(remarkable());
  const std::size_t fresh = text.find("NEW FAIL"), still = text.find("STILL FAILING");
  ASSERT_LT(fresh, still);
  EXPECT_TRUE(has(text.substr(fresh, still - fresh),
                  "<p>reason of GPU 5</p>\n<pre class=\"command\">tidemark run --cases "
                  "synthetic.case_0003 --seed "));
  EXPECT_TRUE(has(text.substr(fresh, still - fresh), " --gpus 5</pre>"));
  EXPECT_TRUE(has(text.substr(still), "<p>reason of GPU 2</p>"));
}

TEST(ComparisonHtml, SaysVirtual) {
  std::vector<Report> base = side(false), fresh = side(true);
  for (Report& report : base) report.launch.is_virtual = true;
  for (Report& report : fresh) report.launch.is_virtual = true;
  EXPECT_FALSE(has(html(remarkable()), "VIRTUAL"));
  EXPECT_TRUE(has(html(held(base, fresh)), "tidemark comparison (VIRTUAL)</h1>"));
}

TEST(ComparisonHtml, NamesNothingOutsideOfItself) { expect_nothing_outside(html(remarkable())); }

TEST(ComparisonHtml, PlotsOfWhatStayedTheSameAreThereWhenAllIsAskedFor) {
  const Comparison made = held(side(false), side(true));
  EXPECT_FALSE(has(html(made), "<h3>synthetic.case_0001 rate: SAME"));
  EXPECT_TRUE(has(html(made, true), "<h3>synthetic.case_0001 rate: SAME"));
}

TEST(ComparisonHtmlInChromium, SortsFiltersAndFetchesNothing) {
  if (browser().empty()) GTEST_SKIP() << kNoBrowser;
  const auto said =
      seen(html(remarkable()),
           {"{const b = [...document.querySelectorAll(\"#every-metric th button\")].find(b => "
            "b.textContent === \"of its own\"); b.click(); "
            "document.querySelector(\"#every-metric tbody tr\").cells[1].textContent}",
            "{const f = document.querySelector(\"#speed input\"); f.value = \"case_0007\"; "
            "f.dispatchEvent(new Event(\"input\")); f.nextSibling.textContent}",
            "document.querySelectorAll(\"svg .cell-bad\").length",
            "document.querySelectorAll(\"svg .slower\").length >= 15"});
  EXPECT_EQ(said[0], "synthetic.case_0000");
  EXPECT_EQ(said[1], "1 of 12");
  EXPECT_EQ(said[2], 1 + 1);  // the map and its legend
  EXPECT_EQ(said[3], true);
  EXPECT_EQ(said.back()["requests"].size(), 1U) << said.back();
  EXPECT_EQ(said.back()["messages"], nlohmann::json::array());
}

TEST(ComparisonHtmlInChromium, WithoutItsScriptThePageStillShowsEverything) {
  if (browser().empty()) GTEST_SKIP() << kNoBrowser;
  std::string page = html(remarkable());
  page.erase(page.find("<script>"));
  const auto said = seen(page, {"document.querySelectorAll(\"button, input\").length",
                                "[...document.querySelectorAll(\"#every-metric tbody tr\")].filter("
                                "r => r.offsetHeight > 0).length"});
  EXPECT_EQ(said[0], 0);
  EXPECT_EQ(said[1], 12);
}

/// Both sides hostile, and a waiver and a slowed case as well.
Comparison hostile() {
  Report base = hostile_report(), fresh = hostile_report();
  base.launch.run_id = "other";
  fresh.results[0].verdict = Verdict::fail;
  fresh.results[0].reason = fresh.results[3].reason;
  fresh.results[0].replay = fresh.results[3].replay;
  CompareOptions options;
  Comparison made = held({base}, {fresh}, options);
  made.fresh.front().slowed[kHostileText] = kHostileText;
  made.waivers.push_back({.attention = true, .text = kHostileText});
  made.incomplete.push_back(kHostileText);
  return made;
}

TEST(ComparisonHtmlInChromium, NothingHostileBecomesMarkup) {
  if (browser().empty()) GTEST_SKIP() << kNoBrowser;
  expect_harmless(html(hostile()), "tidemark comparison: ");
}

TEST(ComparisonMarkdown, SaysVerdictFindingReplaySpeedAndWhatElseDiffers) {
  const std::string text = markdown(remarkable());
  for (const char* part :
       {"## tidemark: REGRESSION: do not roll out\n\n12 cases x 16 paired GPUs, 5 against 5 "
        "launches\n",
        "**NEW FAIL** `synthetic.case_0003` on `node n000, GPU 5 (GPU-00000005)`<br>\n"
        "`reason of GPU 5`\n\n```sh\ntidemark run --cases synthetic.case_0003 --seed ",
        " --gpus 5\n```\n", "| regressed | `synthetic.case_0000` | `rate` |",
        "- subject `driver`: `580.105.08` -> `590.44.01`  (16 GPUs)\n"}) {
    EXPECT_TRUE(has(text, part)) << part << "\n" << text;
  }
}

TEST(ComparisonMarkdown, StaysUnderItsSizeAndSaysWhatFoundNoRoom) {
  Comparison made = remarkable();
  made.conformance.groups.resize(3000, made.conformance.groups.front());
  made.speed.series.resize(3000, made.speed.series.front());
  made.setup.differences.resize(3000, made.setup.differences.front());
  made.incomplete.assign(3000, "gone");
  const std::string text = markdown(made);
  EXPECT_LT(text.size(), kMostMarkdownBytes);
  EXPECT_TRUE(has(text, "blocks found no room here; `tidemark compare --all`"));
  EXPECT_TRUE(has(text, "- subject `driver`"));
}

TEST(ComparisonMarkdown, NothingHostileBecomesMarkup) {
  if (harmless_html_of(markdown(hostile())).empty()) GTEST_SKIP() << kNoCmark;
}

TEST(ComparisonCsv, HasALineACaseAndGpuAndALineAMetric) {
  if (first_program({"python3"}).empty()) GTEST_SKIP() << "no python3: a reader was not tried";
  EXPECT_EQ(said_of(csv(remarkable()), R"(
import csv, sys
rows = list(csv.reader(open(sys.argv[1], newline='')))
print(len(rows), {len(row) for row in rows})
table = [dict(zip(rows[0], row)) for row in rows[1:]]
for row in table:
    if row["line"] == "result" and row["finding"] != "same":
        print(row["case"], row["gpu_number"], row["finding"], row["base_pass"], row["new_bad"])
    if row["line"] == "metric" and row["finding"] == "regressed":
        print(row["case"], row["metric"], row["unit"], -6 < float(row["own_percent"]) < -4, row["gpus"])
)"),
            "205 {29}\n"
            "synthetic.case_0003 2 still_failing 0 5\n"
            "synthetic.case_0003 5 new_fail 5 5\n"
            "synthetic.case_0000 rate TFLOP/s True 16\n");
}

TEST(ComparisonCsv, AGpuThatChangedUnlikeTheOthersHasItsNumbers) {
  if (first_program({"python3"}).empty()) GTEST_SKIP() << "no python3: a reader was not tried";
  const std::string text = csv(held(side(false), side(true, {.few_cases = -0.08})));
  EXPECT_EQ(said_of(text, R"(
import csv, sys
of_gpus = [row for row in csv.DictReader(open(sys.argv[1], newline='')) if row["line"] == "gpu_metric"]
print({-9 < float(row["total_percent"]) < -6 and float(row["own_percent"]) < -3 and
       0 < float(row["margin_95_percent"]) < 3 and float(row["q"]) < 0.05
       for row in of_gpus if row["finding"] == "regressed"})
)"),
            "{True}\n");
}

TEST(ComparisonJunit, WhatIsAskedForFailsAndWhatIsNotIsSkipped) {
  const std::string python = interpreter_with("junitparser");
  if (python.empty()) GTEST_SKIP() << "no junitparser: a reader was not tried";
  EXPECT_EQ(said_of(junit(remarkable(), kUsual), R"(
import junitparser, sys
for suite in junitparser.JUnitXml.fromfile(sys.argv[1]):
    for case in suite:
        for result in case.result:
            print(suite.name, case.name, type(result).__name__, result.type)
)",
                    python),
            "tidemark compare --fail-on new_fail Failure new_fail\n"
            "tidemark compare --fail-on regressed Failure regressed\n"
            "tidemark compare --fail-on still_failing Skipped None\n"
            "cases synthetic.case_0000 Failure regressed\n"
            "cases synthetic.case_0003 Failure new_fail\n");
}

TEST(ComparisonJunit, WhatIsMissingIsAnErrorAndNoPass) {
  std::vector<Report> fresh = side(true);
  for (Report& report : fresh) report.results[0].verdict = Verdict::not_run;
  const std::string text = junit(held(side(false), fresh), kUsual);
  EXPECT_TRUE(has(text,
                  "<error type=\"missing_in_new\" message=\"MISSING IN NEW on node n000, GPU "
                  "0 (GPU-00000000)\">"))
      << text;
}

TEST(ComparisonJunit, NothingOfTheVirtualDeviceIsAPass) {
  std::vector<Report> base = side(false), fresh = side(true);
  for (Report& report : base) report.launch.is_virtual = true;
  for (Report& report : fresh) report.launch.is_virtual = true;
  const std::string text = junit(held(base, fresh), kUsual);
  EXPECT_TRUE(has(text, "tests=\"31\" failures=\"0\" errors=\"0\" time=")) << text;
  EXPECT_TRUE(has(text, "tests=\"12\" failures=\"0\" errors=\"0\" skipped=\"12\"")) << text;
}

TEST(ComparisonJunit, NothingHostileBecomesMarkup) {
  if (first_program({"python3"}).empty()) GTEST_SKIP() << "no python3: a reader was not tried";
  EXPECT_EQ(said_of(junit(hostile(), kUsual), R"(
import sys, xml.etree.ElementTree as tree
print(sorted({each.tag for each in tree.parse(sys.argv[1]).iter()}))
)"),
            "['failure', 'properties', 'property', 'skipped', 'testcase', 'testsuite', "
            "'testsuites']\n");
}

TEST(ComparisonCsv, ALineOfEachKindHasAllColumns) {
  const std::string text = csv(held(side(false), side(true, {.few_cases = -0.08})));
  EXPECT_EQ(said_of(text, R"(
import csv, sys
print(sorted({(row[0], len(row)) for row in csv.reader(open(sys.argv[1], newline=''))}))
)"),
            "[('gpu_metric', 29), ('line', 29), ('metric', 29), ('result', 29)]\n");
}

}  // namespace
}  // namespace tidemark
