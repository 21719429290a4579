// What compare advises, and which anonymised reports it pairs by itself.
#include <gtest/gtest.h>

#include "reports/compare/comparison.hpp"
#include "reports/document/comparison/document.hpp"
#include "reports/render/show.hpp"
#include "reports/testing/synthetic_fleet.hpp"

namespace tidemark::reports {
namespace {

std::vector<Report> launches(double noise, bool fresh, const FleetChange& change = {},
                             std::uint32_t count = 5) {
  const SyntheticFleet fleet = {
      .gpus = 16, .cases = 12, .seed = 3, .noise = {.launch = noise, .odd_launches = 0}};
  std::vector<Report> made;
  for (std::uint32_t i = 0; i < count; ++i)
    made.push_back(synthetic_launch(fleet, i, fresh, change));
  return made;
}

Comparison compared(const std::vector<Report>& base, const std::vector<Report>& fresh) {
  std::vector<LaunchFacts> sides[2];
  for (const Report& report : base) sides[0].push_back(facts_of(report, report.launch.run_id));
  for (const Report& report : fresh) sides[1].push_back(facts_of(report, report.launch.run_id));
  return compare_launches(std::move(sides[0]), std::move(sides[1]), {});
}

TEST(CompareAction, ADriverThatChangesNothingIsRolledOut) {
  const Comparison made = compared(launches(0.001, false), launches(0.001, true));
  EXPECT_TRUE(show_comparison(made, {}).starts_with("RESULT: SAME  roll out: 12 cases x 16 "))
      << show_comparison(made, {});
}

TEST(CompareAction, WhatNowIsSkippedIsMissing) {
  std::vector<Report> fresh = launches(0.001, true);
  for (Report& report : fresh)
    for (ResultRow& row : report.results)
      if (row.case_id == 3) row.verdict = Verdict::skip;
  const Comparison made = compared(launches(0.001, false), fresh);
  EXPECT_TRUE(show_comparison(made, {}).starts_with("RESULT: MISSING  run what is missing"))
      << show_comparison(made, {});
  EXPECT_TRUE(expanded({"missing"}).contains("skipped_in_new"));
  EXPECT_EQ(failing_of("skipped_in_new"), Failing::missing);
}

TEST(CompareAction, ADriverThatIsSlowerIsNotRolledOut) {
  const Comparison made =
      compared(launches(0.001, false), launches(0.001, true, {.first_case = -0.05}));
  EXPECT_TRUE(show_comparison(made, {}).starts_with("RESULT: REGRESSION  do not roll out: "))
      << show_comparison(made, {});
}

TEST(CompareAction, ARegressionUnderOneDriverIsNoRolloutThatStops) {
  std::vector<Report> fresh = launches(0.001, false, {}, 10);
  fresh.erase(fresh.begin(), fresh.begin() + 5);
  for (Report& report : fresh) report.results[0].verdict = Verdict::fail;
  const Comparison made = compared(launches(0.001, false), fresh);
  ASSERT_EQ(headline_of(made), "REGRESSION");
  EXPECT_EQ(action_text(made), "look at what is named below");
}

TEST(CompareAction, WhatMoreLaunchesDecideNamesTheirNumber) {
  const Comparison made = compared(launches(0.01, false), launches(0.01, true));
  ASSERT_EQ(headline_of(made), "INCONCLUSIVE") << show_comparison(made, {});
  EXPECT_TRUE(action_text(made).starts_with("run ")) << action_text(made);
  EXPECT_TRUE(action_text(made).ends_with(" a side")) << action_text(made);
}

TEST(CompareAction, AnotherVbiosIsToBeTakenBackFirst) {
  const Comparison made = compared(launches(0.001, false), launches(0.001, true, {.vbios = true}));
  EXPECT_EQ(action_text(made), "compare again with no other difference");
}

TEST(CompareAction, WithoutACommonGpuBothSidesRunAgain) {
  std::vector<Report> fresh = launches(0.001, true);
  for (Report& report : fresh) {
    for (GpuRow& gpu : report.gpus)
      gpu.uuid = FixedText<48>::of("other-" + std::to_string(gpu.gpu_id));
  }
  EXPECT_EQ(action_text(compared(launches(0.001, false), fresh)),
            "run both sides on the same GPUs");
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
  std::vector<Report> base = launches(0.001, false), fresh = launches(0.001, true);
  anonymize(base, "one");
  anonymize(fresh, "one");
  const Comparison made = compared(base, fresh);
  EXPECT_EQ(made.paired_gpus, 16U);
  EXPECT_FALSE(made.setup.differs("pairing"));
  EXPECT_FALSE(made.setup.differs("gpus"));
}

TEST(CompareAction, AnonymisedReportsOfTwoSeriesDoNotPair) {
  std::vector<Report> base = launches(0.001, false), fresh = launches(0.001, true);
  anonymize(base, "one");
  anonymize(fresh, "two");
  EXPECT_EQ(compared(base, fresh).paired_gpus, 0U);
}

}  // namespace
}  // namespace tidemark::reports
