// The HTML page of a history: what it holds, and what Chromium makes of it; and its line chart.
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "reports/render/html/svg.hpp"
#include "reports/render/show.hpp"
#include "reports/testing/example_nights.hpp"
#include "reports/testing/hostile_report.hpp"
#include "reports/testing/said.hpp"
#include "reports/testing/seen_in_chromium.hpp"

namespace tidemark {
namespace {

std::string html(const History& history, const ShowOptions& options = {}) {
  return show_history(history, options, "html");
}

/// A step at night 12, a case that fails from night 15 on, a launch that ended early.
History remarkable() {
  Chronicle all;
  for (std::uint32_t i = 0; i < 20; ++i) {
    const double level = (600 + 0.2 * wobble(i)) * (i >= 12 ? 0.95 : 1);
    LaunchFacts facts = night(i, {level, level, level + 1}, i >= 12 ? "590.1" : "580.1");
    facts.cases.emplace_back("zfill.corner");
    facts.over_all_gpus.push_back(false);
    facts.verdicts.resize(6, i >= 15 ? Verdict::fail : Verdict::pass);
    facts.descriptors.resize(6, 0);
    facts.rows.resize(6, 10);
    if (i == 4) {
      facts.launch.complete = false;
      facts.launch.incomplete_reason = "interrupted";
    }
    record_launch(all, facts);
  }
  return history_of(std::move(all), {});
}

TEST(HistoryHtml, HoldsChangesCasesChartsAndLaunches) {
  const std::string text = html(remarkable(), {.refused = {"x.h5: is empty"}});
  for (const char* part :
       {"<p>20 launches, 2026-09-01T00:00:00Z to 2026-09-20T00:00:00Z; 3 GPUs</p>",
        "1 file not read: the last section says why", "<li>x.h5: is empty</li>",
        "step at driver 580.1 -&gt; 590.1</span>",
        "<li><span class=\"bad\">worse</span>  -5.0 %  gemm.local.speed rate (nightly)  ",
        "<span class=\"badge bad\">FAILING</span> <span><code>zfill.corner</code></span> "
        "<span class=\"muted\">since 2026-09-16T00:00:00Z (5 launches in a row), fail on GPU 0",
        "aria-label=\"gemm.local.speed rate (nightly)\"", "aria-label=\"cases by launch\"",
        "INCOMPLETE REPORT", "no: interrupted"}) {
    EXPECT_TRUE(has(text, part)) << part;
  }
}

TEST(HistoryHtml, SaysVirtualWhereLaunchesAre) {
  EXPECT_FALSE(has(html(remarkable(), {}), "VIRTUAL"));
  Chronicle all;
  LaunchFacts facts = night(0, {600});
  facts.launch.is_virtual = true;
  record_launch(all, facts);
  const std::string text = html(history_of(std::move(all), {}), {});
  EXPECT_TRUE(has(text, "tidemark history (VIRTUAL)</h1>"));
  EXPECT_TRUE(has(text, "gemm.local.speed rate (nightly, VIRTUAL)"));
}

TEST(HistoryHtml, AnotherGpuOrSuiteIsMarkedInAChartAsAnotherDriverIs) {
  Chronicle all;
  for (std::uint32_t i = 0; i < 2; ++i) {
    LaunchFacts facts = night(i, {600});
    facts.factors.push_back({"suite_tree", i == 0 ? "abc" : "def"});
    record_launch(all, facts);
  }
  EXPECT_TRUE(
      has(html(history_of(std::move(all), {}), {}), "<title>suite_tree abc -&gt; def</title>"));
}

TEST(HistoryHtml, ChartsAreCappedUnlessAllIsAskedFor) {
  Chronicle all;
  LaunchFacts facts = night(0, {600});
  facts.series.resize(70, facts.series[0]);
  for (std::size_t i = 0; i < facts.series.size(); ++i) {
    facts.series[i].name = fmt::format("rate{}", i);
  }
  record_launch(all, facts);
  const History made = history_of(std::move(all), {});
  EXPECT_TRUE(has(html(made, {}), "... and 10 more charts"));
  EXPECT_FALSE(has(html(made, {.all = true}), "more charts"));
}

TEST(HistoryHtml, NamesNothingOutsideOfItself) { expect_nothing_outside(html(remarkable(), {})); }

TEST(LineChart, LaunchesStandWhereTheirTimeIs) {
  const std::string svg = svg_of(LineChart{.title = "rate",
                                           .unit = "ms",
                                           .points = {{.unix_s = 0, .typical = 0},
                                                      {.unix_s = 86400, .typical = 100},
                                                      {.unix_s = 864000, .typical = 100}}});
  // The axes have 3 % to spare: 76 + 940 * (3, 13, 103) / 106; 202 - 180 * (3, 103) / 106.
  EXPECT_TRUE(has(svg, "<path class=\"line\" d=\"M102.6 196.9L191.3 27.1L989.4 27.1\"/>")) << svg;
  EXPECT_TRUE(has(svg, ">1970-01-03</text>")) << svg;
}

TEST(LineChart, ALaunchWithoutAValueIsAGapInTheLine) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const std::string svg =
      svg_of(LineChart{.points = {{.unix_s = 0, .typical = 1, .low = none, .high = none},
                                  {.unix_s = 100, .typical = none, .low = none, .high = none},
                                  {.unix_s = 200, .typical = 1, .low = none, .high = none}}});
  EXPECT_TRUE(has(svg, "d=\"M102.6 112.0M989.4 112.0\"")) << svg;
  EXPECT_FALSE(has(svg, "nan")) << svg;
}

TEST(LineChart, IsNotThereWithoutAFiniteValueAndIsThereForOneLaunch) {
  EXPECT_EQ(svg_of(LineChart{}), "");
  const std::string svg =
      svg_of(LineChart{.points = {{.unix_s = 1788220800, .typical = 5, .low = 5, .high = 5}}});
  EXPECT_NE(svg, "");
  EXPECT_FALSE(has(svg, "inf")) << svg;
}

TEST(LineChart, AnotherDriverIsAnUprightLineBetweenItsLaunches) {
  const std::string svg =
      svg_of(LineChart{.points = {{.unix_s = 0, .typical = 0}, {.unix_s = 1000, .typical = 100}},
                       .rules = {{.point = 1, .label = "driver <2>"}}});
  EXPECT_TRUE(has(svg, "<path class=\"rule\" d=\"M546.0 18V202\"><title>driver &lt;2&gt;</title>"))
      << svg;
}

TEST(HistoryHtmlInChromium, IsWholeSortsAndFetchesNothing) {
  if (browser().empty()) GTEST_SKIP() << kNoBrowser;
  const auto said =
      seen(html(remarkable(), {}),
           {"document.querySelectorAll(\"svg .rule\").length",
            "document.querySelectorAll(\"svg .slower\").length",
            "document.querySelectorAll(\"svg .dot.void\").length",
            "{const b = [...document.querySelectorAll(\"#every-launch th button\")].find(b => "
            "b.textContent === \"wrong\"); b.click(); b.click(); "
            "document.querySelector(\"#every-launch tbody tr\").cells[6].textContent}"});
  EXPECT_EQ(said[0], 1);
  EXPECT_EQ(said[1], 1);
  EXPECT_EQ(said[2], 1);
  EXPECT_EQ(said[3], "3");
  EXPECT_EQ(said.back()["requests"].size(), 1U) << said.back();
  EXPECT_EQ(said.back()["messages"], nlohmann::json::array());
}

TEST(HistoryHtmlInChromium, WithoutItsScriptThePageStillShowsEverything) {
  if (browser().empty()) GTEST_SKIP() << kNoBrowser;
  std::string page = html(remarkable(), {});
  page.erase(page.find("<script>"));
  const auto said = seen(page, {"document.querySelectorAll(\"button, input\").length",
                                "[...document.querySelectorAll(\"#every-launch tbody tr\")].filter("
                                "r => r.offsetHeight > 0).length",
                                "document.querySelector(\"svg .line\").getBBox().width > 100"});
  EXPECT_EQ(said[0], 0);
  EXPECT_EQ(said[1], 20);
  EXPECT_EQ(said[2], true);
}

TEST(HistoryHtmlInChromium, NothingHostileBecomesMarkup) {
  if (browser().empty()) GTEST_SKIP() << kNoBrowser;
  expect_harmless(html(hostile_history(), {.all = true, .refused = {kHostileText}}),
                  "tidemark history: ");
}

}  // namespace
}  // namespace tidemark
