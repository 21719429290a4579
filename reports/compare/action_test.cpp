// What compare advises, and which anonymised reports it pairs by itself.
#include <gtest/gtest.h>

#include "reports/compare/comparison.hpp"
#include "reports/document/comparison/document.hpp"
#include "reports/render/show.hpp"
#include "reports/testing/two_sides.hpp"

namespace tidemark::reports {
namespace {

TEST(CompareAction, ADriverThatChangesNothingIsRolledOut) {
  const Comparison made = held(side(false), side(true));
  EXPECT_TRUE(show_comparison(made, {}).starts_with("RESULT: SAME  roll out: 12 cases x 16 "))
      << show_comparison(made, {});
}

TEST(CompareAction, WhatNowIsSkippedIsMissing) {
  std::vector<Report> fresh = side(true);
  for (Report& report : fresh)
    for (ResultRow& row : report.results)
      if (row.case_id == 3) row.verdict = Verdict::skip;
  const Comparison made = held(side(false), fresh);
  EXPECT_TRUE(show_comparison(made, {}).starts_with("RESULT: MISSING  run what is missing"))
      << show_comparison(made, {});
  EXPECT_TRUE(expanded({"missing"}).contains("skipped_in_new"));
  EXPECT_EQ(failing_of("skipped_in_new"), Failing::missing);
}

TEST(CompareAction, ADriverThatIsSlowerIsNotRolledOut) {
  const Comparison made = held(side(false), side(true, {.first_case = -0.05}));
  EXPECT_TRUE(show_comparison(made, {}).starts_with("RESULT: REGRESSION  do not roll out: "))
      << show_comparison(made, {});
}

TEST(CompareAction, ARegressionUnderOneDriverIsNoRolloutThatStops) {
  std::vector<Report> fresh = side(false, {}, 10);
  fresh.erase(fresh.begin(), fresh.begin() + 5);
  for (Report& report : fresh) report.results[0].verdict = Verdict::fail;
  const Comparison made = held(side(false), fresh);
  ASSERT_EQ(headline_of(made), "REGRESSION");
  EXPECT_EQ(action_text(made), "look at what is named below");
}

TEST(CompareAction, WhatMoreLaunchesDecideNamesTheirNumber) {
  SyntheticFleet noisy = kFleet;
  noisy.noise.launch = 0.01;
  const Comparison made = held(launches_of(noisy, false), launches_of(noisy, true));
  ASSERT_EQ(headline_of(made), "INCONCLUSIVE") << show_comparison(made, {});
  EXPECT_TRUE(action_text(made).starts_with("run ")) << action_text(made);
  EXPECT_TRUE(action_text(made).ends_with(" a side")) << action_text(made);
}

TEST(CompareAction, AnotherVbiosIsToBeTakenBackFirst) {
  const Comparison made = held(side(false), side(true, {.vbios = true}));
  EXPECT_EQ(action_text(made), "compare again with no other difference");
}

TEST(CompareAction, WithoutACommonGpuBothSidesRunAgain) {
  std::vector<Report> fresh = side(true);
  for (Report& report : fresh) {
    for (GpuRow& gpu : report.gpus)
      gpu.uuid = FixedText<48>::of("other-" + std::to_string(gpu.gpu_id));
  }
  EXPECT_EQ(action_text(held(side(false), fresh)), "run both sides on the same GPUs");
}

/// Each as --anonymize leaves it: names that no other report has.
void anonymize(std::vector<Report>& reports, const std::string& series) {
  for (Report& report : reports) {
    report.launch.anonymised = true;
    report.launch.series_id = series;
    for (GpuRow& gpu : report.gpus)
      gpu.uuid =
          FixedText<48>::of(report.launch.run_id.substr(0, 36) + "-" + std::to_string(gpu.gpu_id));
  }
}

TEST(CompareAction, AnonymisedReportsOfOneSeriesPairByNumber) {
  std::vector<Report> base = side(false), fresh = side(true);
  anonymize(base, "one");
  anonymize(fresh, "one");
  const Comparison made = held(base, fresh);
  EXPECT_EQ(made.paired_gpus, 16U);
  EXPECT_FALSE(made.setup.differs("pairing"));
  EXPECT_FALSE(made.setup.differs("gpus"));
}

TEST(CompareAction, AnonymisedReportsOfTwoSeriesDoNotPair) {
  std::vector<Report> base = side(false), fresh = side(true);
  anonymize(base, "one");
  anonymize(fresh, "two");
  EXPECT_EQ(held(base, fresh).paired_gpus, 0U);
}

}  // namespace
}  // namespace tidemark::reports
