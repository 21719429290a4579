// What journals hold, result by result, on its way into the tables of a report.
#include "reports/store/assemble/assembly.hpp"

#include <gtest/gtest.h>
#include <algorithm>

#include "reports/render/show.hpp"
#include "reports/store/report.hpp"
#include "reports/testing/example_launch.hpp"
#include "reports/testing/said.hpp"

namespace tidemark {
namespace {

Waiver corner(const std::string& gpu = "") {
  return {.cases = "zfill.corner",
          .gpu = gpu,
          .owner = "Ann",
          .link = "T-1",
          .reason = "known",
          .lowest_driver = "",
          .highest_driver = "",
          .expires = "2026-12-31",
          .waives = {"failure"}};
}

/// zfill.corner passes on GPU 0 and ends on GPU 1 as told.
std::vector<std::string> journals(const PolicyRecord& policy, const OutcomeRecord& on_gpu_1) {
  return {journal_of({example_launch(0), policy, example_node(0), example_gpu(0),
                      example_outcome(0, "load.tile.2d"), example_outcome(0, "zfill.corner"),
                      example_speed(0, 700), example_end(0)}),
          journal_of({example_launch(1), policy, example_node(1), example_gpu(1),
                      example_outcome(1, "load.tile.2d"), on_gpu_1, example_speed(1, 690),
                      example_end(1)})};
}

Report report_of(const std::vector<Waiver>& waivers, bool strict = false,
                 const OutcomeRecord& on_gpu_1 = example_failure(1, "zfill.corner"),
                 bool anonymize = false) {
  return assemble(journals({.strict = strict, .waivers = waivers}, on_gpu_1),
                  {.anonymize = anonymize, .incomplete_reason = {}});
}

/// What the report says of `--strict`; empty without it.
std::string strict_of(bool strict) {
  return std::string(provenance_of(report_of({corner()}, strict), "policy.strict"));
}

const ResultRow& corner_on(const Report& report, std::uint32_t gpu) {
  return report.results.at(1 * 2 + gpu);  // the second case
}

TEST(AssembledWaivers, AStrictLaunchSaysThatItWas) {
  EXPECT_EQ(strict_of(true), "1");
  EXPECT_EQ(strict_of(false), "");
}

TEST(AssembledWaivers, AFailureIsWaivedAndStaysWhatItWas) {
  const Report report = report_of({corner("GPU-77*")});
  const ResultRow& result = corner_on(report, 1);
  EXPECT_EQ(result.verdict, Verdict::waived);
  EXPECT_EQ(report.text(result.reason),
            "fail, waived until 2026-12-31 by Ann (T-1, known): 1 of 12 rows moved wrong bytes");
  EXPECT_EQ(report.text(result.replay),
            "tidemark run --cases zfill.corner --gpus GPU-77aa88bb --seed 0x1f2e");
  EXPECT_EQ(result.rows_failed, 1U);
  EXPECT_EQ(report.miscompares.size(), 1U);
}

TEST(AssembledWaivers, AnotherGpuIsNotWaived) {
  EXPECT_EQ(corner_on(report_of({corner("GPU-5f*")}), 1).verdict, Verdict::fail);
}

TEST(AssembledWaivers, APassUnderOneIsAPassWithANote) {
  const Report report = report_of({corner()});
  EXPECT_EQ(corner_on(report, 0).verdict, Verdict::pass);
  EXPECT_EQ(report.text(corner_on(report, 0).notes),
            "stale waiver: it passes, and Ann waives it until 2026-12-31 (T-1)");
}

TEST(AssembledWaivers, APassUnderOneIsUnexpectedWhereStrict) {
  const Report report = report_of({corner("node07*")}, true);
  EXPECT_EQ(corner_on(report, 0).verdict, Verdict::unexpected_pass);
  EXPECT_EQ(corner_on(report, 1).verdict, Verdict::waived);
}

TEST(AssembledWaivers, WhatNeverRanIsNotWaived) {
  OutcomeRecord lost = example_outcome(1, "zfill.corner");
  lost.verdict = Verdict::gpu_lost;
  lost.reason = "Xid 79";
  EXPECT_EQ(corner_on(report_of({corner()}, false, lost), 1).verdict, Verdict::gpu_lost);
  lost.verdict = Verdict::tool_error;
  EXPECT_EQ(corner_on(report_of({corner()}, false, lost), 1).verdict, Verdict::tool_error);
  lost.case_name = "load.tile.2d";  // nothing is heard of zfill.corner
  EXPECT_EQ(corner_on(report_of({corner()}, false, lost), 1).verdict, Verdict::not_run);
}

TEST(AssembledWaivers, TheyAreHeldAgainstTheDayOfTheLaunch) {
  Waiver waiver = corner();
  waiver.expires = "2026-08-31";  // the launch was on 2026-09-01
  EXPECT_EQ(corner_on(report_of({waiver}), 1).verdict, Verdict::fail);
  waiver.expires = "2026-09-01";
  EXPECT_EQ(corner_on(report_of({waiver}), 1).verdict, Verdict::waived);
}

TEST(AssembledWaivers, TheReportSaysWhatCameOfEach) {
  Waiver nowhere = corner();
  nowhere.cases = "store.*";
  const Report report = report_of({corner("GPU-77*"), nowhere});
  const std::vector<WaiverLedger::Line> lines = waiver_lines(report);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].text,
            "in use: zfill.corner on GPU-77* (Ann, T-1, until 2026-12-31): waived 1 finding");
  EXPECT_FALSE(lines[0].attention);
  EXPECT_EQ(lines[1].text.substr(0, 14), "stale: store.*");
  EXPECT_TRUE(lines[1].attention);
}

TEST(AssembledWaivers, ARankThatIsSilentTakesNoWaiverAlong) {
  std::vector<std::string> all =
      journals({.strict = false, .waivers = {corner()}}, example_failure(1, "zfill.corner"));
  all.erase(all.begin());
  const Report report = assemble(all, {});
  EXPECT_EQ(corner_on(report, 1).verdict, Verdict::waived);
  EXPECT_EQ(corner_on(report, 0).verdict, Verdict::not_run);
  EXPECT_FALSE(report.launch.complete);
}

TEST(AssembledWaivers, AnAnonymousReportNamesNobody) {
  const Report report =
      report_of({corner("GPU-77*")}, false, example_failure(1, "zfill.corner"), true);
  EXPECT_EQ(corner_on(report, 1).verdict, Verdict::waived);
  for (const std::string& text : report.strings) {
    EXPECT_FALSE(has(text, "Ann")) << text;
    EXPECT_FALSE(has(text, "T-1")) << text;
    EXPECT_FALSE(has(text, "known")) << text;
    EXPECT_FALSE(has(text, "GPU-77*")) << text;
  }
}

TEST(AssembledWaivers, ShowListsWhatIsWaivedWithItsReplayLine) {
  const std::string text = show(report_of({corner("GPU-77*")}), {.columns = 200});
  EXPECT_TRUE(has(text, "WAIVED zfill.corner  on GPU 1")) << text;
  EXPECT_TRUE(has(text, "replay: tidemark run --cases zfill.corner")) << text;
  EXPECT_TRUE(has(text, "waiver in use: zfill.corner on GPU-77*")) << text;
  EXPECT_FALSE(has(text, "FAIL")) << text;
}

}  // namespace

}  // namespace tidemark
