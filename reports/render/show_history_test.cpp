// A history on a terminal, as JSON and as CSV.
#include "reports/render/show.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "reports/testing/example_nights.hpp"
#include "reports/testing/hostile_report.hpp"
#include "reports/testing/said.hpp"

namespace tidemark {
namespace {

History stepped() { return history_of(step_chronicle(20, 12, 0.95), {}); }

TEST(ShowHistory, SaysWhatChangedWhenByHowMuchAndWhatElseDid) {
  const std::string text = show_history(stepped(), {.columns = 200});
  for (const char* part :
       {"HISTORY: 20 launches, 2026-09-01T00:00:00Z to 2026-09-20T00:00:00Z; 4 GPUs",
        "speed: 1 of 1 metric changed, 0 steady",
        "2026-09-13T00:00:00Z  step at driver 580.1 -> 590.1",
        "between night-11.h5 and night-12.h5", "worse  -5.0 %  gemm.local.speed rate (nightly)",
        "TFLOP/s, the typical GPU"}) {
    EXPECT_TRUE(has(text, part)) << part << "\n" << text;
  }
}

TEST(ShowHistory, SaysWhereTheNewestNightLiesOutsideThoseBefore) {
  const History made = history_of(step_chronicle(20, 18, 0.7), {});
  const std::string text = show_history(made, {.columns = 200});
  EXPECT_TRUE(has(text, "2026-09-20T00:00:00Z  newest night lies outside what 18 nights had"))
      << text;
  EXPECT_TRUE(has(text, "worse  -30.0 %  gemm.local.speed rate (nightly)")) << text;
  const auto json = nlohmann::json::parse(show_history(made, {}, "json"));
  EXPECT_EQ(json.at("newest_nights_outside")[0].at("nights"), 18);
}

TEST(ShowHistory, SaysThatGpusOfAnonymisedLaunchesAreNotFollowed) {
  Chronicle all;
  for (std::uint32_t i = 0; i < 2; ++i) {
    LaunchFacts facts = night(i, {600});
    facts.launch.anonymised = true;
    record_launch(all, facts);
  }
  EXPECT_TRUE(has(show_history(history_of(std::move(all), {}), {.columns = 200}),
                  "NOT FOLLOWED the GPUs of 2 of 2 launches: each anonymised report hashes names "
                  "under its own key; --pair number goes by number"));
}

TEST(ShowHistory, FollowsGpusOfAnonymisedLaunchesByNumber) {
  Chronicle all;
  all.pair_by = PairBy::number;
  for (std::uint32_t i = 0; i < 2; ++i) {
    LaunchFacts facts = night(i, {600});
    facts.launch.anonymised = true;
    record_launch(all, facts);
  }
  EXPECT_FALSE(has(show_history(history_of(std::move(all), {}), {}), "NOT FOLLOWED"));
}

TEST(ShowHistory, MarksIncompleteAndVirtualLaunchesAndCountsWhatWasRefused) {
  Chronicle all;
  LaunchFacts first = night(0, {600});
  first.launch.complete = false;
  first.launch.incomplete_reason = "interrupted";
  record_launch(all, first);
  LaunchFacts second = night(1, {600});
  second.launch.is_virtual = true;
  record_launch(all, second);
  const std::string text =
      show_history(history_of(std::move(all), {}), {.columns = 200, .refused = {"x.h5: is empty"}});
  EXPECT_TRUE(has(text, "1 of them VIRTUAL")) << text;
  EXPECT_TRUE(has(text, "INCOMPLETE REPORT 2026-09-01T00:00:00Z night-0.h5: interrupted")) << text;
  EXPECT_TRUE(has(text, "1 file not read")) << text;
}

TEST(ShowHistory, NamesWaivedAndOpenCasesAndWhatWasSlowedOnPurpose) {
  Chronicle all;
  for (std::uint32_t i = 0; i < 3; ++i) {
    LaunchFacts facts = night(i, {600});
    facts.cases = {"a", "b"};
    facts.over_all_gpus = {false, false};
    facts.verdicts = {i == 0 ? Verdict::fail : Verdict::pass,
                      i == 2 ? Verdict::waived : Verdict::pass};
    facts.descriptors = {0, 0};
    facts.rows = {i == 0 ? 10U : 1U, 10};
    if (i == 1) facts.slowed["a"] = "3%";
    record_launch(all, facts);
  }
  const History made = history_of(std::move(all), {});
  const std::string text = show_history(made, {.columns = 200});
  for (const char* part :
       {"cases: 0 failing, 1 open, 1 waived, 0 lacking, 0 failed before, 0 never failed",
        "SLOWED ON PURPOSE 2026-09-02T00:00:00Z night-1.h5: a by 3%",
        "OPEN a  failed 2026-09-01T00:00:00Z on GPU 0 (n07, GPU-0); nothing as large passed there",
        "WAIVED b  since 2026-09-03T00:00:00Z (1 launch in a row), on GPU 0"}) {
    EXPECT_TRUE(has(text, part)) << part << "\n" << text;
  }
  EXPECT_FALSE(has(text, "passing since")) << text;
  const std::string page = show_history(made, {}, "html");
  EXPECT_TRUE(has(page, "night-1.h5: a by 3%"));
  EXPECT_TRUE(has(page, "OPEN</span> <span><code>a</code>"));
  EXPECT_TRUE(has(page, "WAIVED</span> <span><code>b</code>"));
  EXPECT_TRUE(has(show_history(made, {}, "csv"), ",pass,1,0,0,0,1,3%\n"));
}

TEST(ShowHistory, LongListsAreCappedUnlessAllIsAskedFor) {
  Chronicle all;
  for (std::uint32_t i = 0; i < 30; ++i) {
    LaunchFacts facts = night(i, {600});
    facts.launch.complete = false;
    facts.launch.incomplete_reason = "interrupted";
    record_launch(all, facts);
  }
  const History made = history_of(std::move(all), {});
  EXPECT_TRUE(has(show_history(made, {.columns = 200}), "... and 10 more incomplete reports"));
  EXPECT_FALSE(has(show_history(made, {.columns = 200}), "night-0.h5"));
  EXPECT_TRUE(has(show_history(made, {.all = true, .columns = 200}), "night-0.h5"));
}

TEST(ShowHistory, NothingThatAReportHoldsDrivesTheTerminal) {
  const std::string text = show_history(hostile_history(), {.all = true});
  EXPECT_TRUE(std::all_of(text.begin(), text.end(),
                          [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
}

TEST(HistoryJson, HoldsLaunchesSeriesChangesAndCases) {
  const auto json =
      nlohmann::json::parse(show_history(stepped(), {.refused = {"x.h5: is empty"}}, "json"));
  EXPECT_EQ(json.at("launches").size(), 20U);
  EXPECT_EQ(json.at("launches")[12].at("setup").at("driver"), "590.1");
  EXPECT_EQ(json.at("refused")[0], "x.h5: is empty");
  const auto& metric = json.at("metrics").at(0);
  EXPECT_EQ(metric.at("judged"), "changed");
  EXPECT_EQ(metric.at("typical").size(), 20U);
  EXPECT_EQ(metric.at("gpus").size(), 4U);
  EXPECT_EQ(metric.at("changes").at(0).at("first_launch_after"), 12);
  EXPECT_EQ(metric.at("changes").at(0).at("worse"), true);
  EXPECT_NEAR(metric.at("changes").at(0).at("percent").get<double>(), -5, 0.3);
  EXPECT_EQ(json.at("events").at(0).at("setup")[0].at("factor"), "driver");
  EXPECT_EQ(json.at("events").at(0).at("release")[0].at("factor"), "driver");
  EXPECT_EQ(json.at("releases").at(0).at("first_launch_after"), 12);
  EXPECT_EQ(json.at("cases")[0].at("state"), "passing");
}

TEST(ShowHistory, AReleaseWithoutAStepIsMarkedOnceItHasThreeNights) {
  EXPECT_TRUE(has(show_history(history_of(step_chronicle(20, 12, 1), {}), {.columns = 200}),
                  "2026-09-13T00:00:00Z  no step found at driver 580.1 -> 590.1"));
  EXPECT_TRUE(has(show_history(history_of(step_chronicle(20, 18, 1), {}), {.columns = 200}),
                  "2026-09-19T00:00:00Z  too few nights for a step at driver 580.1 -> 590.1"));
}

TEST(ShowHistory, AReleaseWithoutAnyMetricSaysNothingOfAStep) {
  Chronicle all;
  for (std::uint32_t i = 0; i < 8; ++i) {
    LaunchFacts facts = night(i, {600}, i < 4 ? "580.1" : "590.1");
    facts.series.clear();
    record_launch(all, facts);
  }
  const std::string text = show_history(history_of(std::move(all), {}), {.columns = 200});
  EXPECT_FALSE(has(text, "580.1 -> 590.1")) << text;
}

TEST(ShowHistory, AReleaseOfOneNightHasTooFewNightsForAStep) {
  Chronicle all;
  for (std::uint32_t i = 0; i < 8; ++i)
    record_launch(all, night(i, {i == 4 ? 300.0 : 600.0}, i == 4 ? "590.1" : "580.1"));
  const std::string text = show_history(history_of(std::move(all), {}), {.columns = 200});
  EXPECT_FALSE(has(text, "no step found")) << text;
  EXPECT_TRUE(has(text, "too few nights for a step at driver 580.1 -> 590.1")) << text;
}

TEST(ShowHistory, AnotherGpuSplitsNothingAndSaysNothingOfAStep) {
  Chronicle all;
  for (std::uint32_t i = 0; i < 8; ++i) {
    LaunchFacts facts = night(i, {600, 600});
    if (i >= 4) facts.gpus[1].uuid = "GPU-9";
    record_launch(all, facts);
  }
  const std::string text = show_history(history_of(std::move(all), {}), {.columns = 200});
  EXPECT_FALSE(has(text, "GPU-1 -> GPU-9")) << text;
}

TEST(ShowHistory, WhatChangedBesideAReleaseStandsBehindIt) {
  Chronicle all;
  for (std::uint32_t i = 0; i < 20; ++i) {
    const double level = (600 + 0.2 * wobble(i)) * (i < 12 ? 1 : 0.95);
    LaunchFacts facts = night(i, {level, level, level}, i < 12 ? "580.1" : "590.1");
    facts.factors.push_back({"nvcc", i < 12 ? "13.0" : "13.1"});
    record_launch(all, facts);
  }
  EXPECT_TRUE(has(show_history(history_of(std::move(all), {}), {.columns = 200}),
                  "step at driver 580.1 -> 590.1; changed with it: nvcc 13.0 -> 13.1"));
}

TEST(HistoryJson, TextThatIsNoTextIsStillJson) {
  const std::string text = show_history(hostile_history(), {}, "json");
  EXPECT_EQ(nlohmann::json::parse(text).at("launches").size(), 8U);
}

TEST(HistoryCsv, HasALineAValueAndTheChangeBesideItsFirstLaunch) {
  const std::string text = show_history(stepped(), {}, "csv");
  // 20 launches of 4 GPUs and of the typical one, 20 of one case, and the heading.
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 20 * 5 + 20);
  EXPECT_TRUE(has(text,
                  "\n2026-09-13T00:00:00Z,run-12,night-12.h5,cuda,nightly,complete,590.1,abc,"
                  ",,gemm.local.speed,rate,all,570"))
      << text;
  EXPECT_TRUE(has(text, ",TFLOP/s,-4.98,")) << text;
  EXPECT_TRUE(has(text, ",gemm.local.speed,,all,,,,pass,4,0,0,0,10,\n")) << text;
}

TEST(HistoryCsv, EveryLineHasAsManyFields) {
  const std::string text = show_history(hostile_history(), {}, "csv");
  std::size_t fields = 0, first = 0;
  bool inside = false;
  for (const char c : text) {
    if (c == '"') inside = !inside;
    if (!inside && (c == ',' || c == '\n')) ++fields;
    if (inside || c != '\n') continue;
    if (first == 0) first = fields;
    EXPECT_EQ(fields, first);
    fields = 0;
  }
  EXPECT_EQ(first, 23U);
}

}  // namespace
}  // namespace tidemark
