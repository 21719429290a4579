// What compare advises, and which anonymised reports it pairs by itself.
#include <gtest/gtest.h>

#include "reports/compare/comparison.hpp"
#include "reports/document/comparison/document.hpp"
#include "reports/render/show.hpp"
#include "reports/testing/two_sides.hpp"

namespace tidemark {
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
  noisy.noise.launch = 0.025;
  const Comparison made = held(launches_of(noisy, false), launches_of(noisy, true));
  ASSERT_EQ(headline_of(made), "INCONCLUSIVE") << show_comparison(made, {});
  EXPECT_TRUE(action_text(made).starts_with("run ")) << action_text(made);
  EXPECT_TRUE(action_text(made).ends_with(" a side")) << action_text(made);
}

/// Two sides of a fleet whose metrics differ so much from launch to launch.
Comparison silent(double noise) {
  SyntheticFleet fleet = kFleet;
  fleet.noise.launch = noise;
  return held(launches_of(fleet, false), launches_of(fleet, true));
}

TEST(CompareAction, WhereNoMetricIsMuchWorseTheDriverIsRolledOut) {
  const Comparison made = silent(0.006);
  EXPECT_EQ(headline_of(made), "NO REGRESSION FOUND") << show_comparison(made, {});
  EXPECT_EQ(action_text(made), "roll out");
  EXPECT_EQ(findings_of(made).size(), 0U);
}

TEST(CompareAction, NoRegressionFoundStatesItsResolution) {
  const Comparison made = silent(0.006);
  const std::string resolution = resolution_text(made);
  EXPECT_TRUE(has(resolution, " metrics within 1 %, ")) << resolution;
  EXPECT_TRUE(show_comparison(made, {.columns = 200})
                  .starts_with("RESULT: NO REGRESSION FOUND  " + resolution + ": roll out: "));
}

TEST(CompareAction, WhatNoReasonableNumberOfLaunchesDecidesIsNoReasonToRunMore) {
  std::vector<Report> base = side(false), fresh = side(true);
  for (std::vector<Report>* reports : {&base, &fresh})
    for (std::size_t launch = 0; launch < 5; ++launch)
      for (std::uint32_t gpu = 0; gpu < kFleet.gpus; ++gpu)
        (*reports)[launch].metrics[4 * kFleet.gpus + gpu].median *= launch % 2 == 0 ? 0.92 : 1.08;
  const Comparison made = held(base, fresh);
  EXPECT_EQ(headline_of(made), "NO REGRESSION FOUND") << show_comparison(made, {});
  EXPECT_EQ(action_text(made), "look for the noise of what is ambiguous");
  EXPECT_TRUE(findings_of(made).contains("inconclusive"));
}

/// Of case 2 on the first `gpus` GPUs of the first `launches` launches.
void set(std::vector<Report>& reports, std::size_t launches, std::uint32_t gpus, Verdict verdict) {
  for (std::size_t launch = 0; launch < launches; ++launch)
    for (std::uint32_t gpu = 0; gpu < gpus; ++gpu)
      result_of(reports[launch], 2, gpu).verdict = verdict;
}

/// Launches of ten a side in which case 2 fails on so many GPUs.
Comparison failing(std::size_t base_launches, std::size_t fresh_launches, std::uint32_t gpus) {
  std::vector<Report> base = side(false, {}, 10), fresh = side(true, {}, 10);
  set(base, base_launches, gpus, Verdict::fail);
  set(fresh, fresh_launches, gpus, Verdict::fail);
  return held(base, fresh);
}

TEST(CompareAction, FailuresNowAndThenThatBecomeHangsAreNew) {
  std::vector<Report> base = side(false), fresh = side(true);
  set(base, 1, 1, Verdict::fail);
  set(fresh, 4, 1, Verdict::hang);
  EXPECT_EQ(held(base, fresh).conformance.groups.at(0).kind, ChangeKind::flaky);
}

TEST(CompareAction, WhatHangsOnBothSidesIsNoRollout) {
  std::vector<Report> base = side(false), fresh = side(true);
  set(base, 5, 1, Verdict::hang);
  set(fresh, 5, 1, Verdict::hang);
  const Comparison made = held(base, fresh);
  ASSERT_EQ(headline_of(made), "SAME");
  EXPECT_EQ(action_text(made), "look at what hangs or crashes");
}

TEST(CompareAction, FailuresThatAreMoreFrequentThanChanceAreNew) {
  EXPECT_EQ(failing(1, 8, 1).conformance.groups.at(0).kind, ChangeKind::flaky);
}

TEST(CompareAction, FailuresThatMayBeMoreFrequentAskForLaunches) {
  const Comparison made = failing(1, 4, 1);
  EXPECT_EQ(made.conformance.groups.at(0).kind, ChangeKind::still_failing);
  ASSERT_EQ(made.conformance.failing_more.size(), 1U);
  EXPECT_EQ(made.conformance.failing_more[0].fresh.failed, 4U);
  EXPECT_EQ(headline_of(made), "INCONCLUSIVE");
  EXPECT_TRUE(action_text(made).starts_with("run ")) << action_text(made);
  EXPECT_TRUE(has(show_comparison(made, {.columns = 200}),
                  "\nFAILS MORE OFTEN: synthetic.case_0002: in 1 of 10 launches before and 4 of 10 "
                  "after, which may be chance: "));
}

TEST(CompareAction, FailuresAsFrequentAsBeforeAreARolloutThatSaysSo) {
  EXPECT_EQ(action_text(failing(4, 4, 1)), "roll out, though 1 result fails on both sides");
}

TEST(CompareAction, GpusThatFailInOneLaunchAreOneFailure) {
  EXPECT_EQ(failing(1, 4, 16).conformance.groups.at(0).kind, ChangeKind::still_failing);
}

TEST(CompareAction, AGpuThatAlwaysFailsHidesNoOther) {
  std::vector<Report> base = side(false, {}, 10), fresh = side(true, {}, 10);
  for (std::vector<Report>* reports : {&base, &fresh})
    for (Report& report : *reports) result_of(report, 2, 9).verdict = Verdict::fail;
  set(base, 1, 1, Verdict::fail);
  set(fresh, 8, 1, Verdict::fail);
  const std::vector<ChangeGroup> groups = held(base, fresh).conformance.groups;
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].kind, ChangeKind::flaky);
  EXPECT_EQ(groups[0].gpus, std::vector<std::uint32_t>{0});
  EXPECT_EQ(groups[1].gpus, std::vector<std::uint32_t>{9});
}

TEST(CompareAction, AGpuThatFailsAsBeforeIsNotNamedBesideAnother) {
  std::vector<Report> base = side(false, {}, 10), fresh = side(true, {}, 10);
  set(base, 1, 2, Verdict::fail);
  set(fresh, 8, 1, Verdict::fail);
  result_of(fresh[0], 2, 1).verdict = Verdict::fail;
  EXPECT_EQ(held(base, fresh).conformance.groups.at(0).gpus, std::vector<std::uint32_t>{0});
}

TEST(CompareAction, WhatIsWaivedSaysNothingOfOtherGpus) {
  std::vector<Report> base = side(false, {}, 10), fresh = side(true, {}, 10);
  set(base, 1, 2, Verdict::fail);
  set(fresh, 4, 1, Verdict::fail);
  result_of(fresh[0], 2, 1).verdict = Verdict::fail;
  Waiver waiver = {};
  waiver.cases = "synthetic.case_0002";
  waiver.gpu = std::string(base[0].gpus[0].uuid.view());
  waiver.expires = "2099-12-31";
  waiver.waives = {"failure"};
  const Comparison made = held(base, fresh, {.waivers = std::vector<Waiver>{waiver}});
  EXPECT_FALSE(findings_of(made).contains("flaky")) << show_comparison(made, {});
  EXPECT_TRUE(made.conformance.failing_more.empty());
}

TEST(CompareAction, ChanceOfMoreFailuresIsFishers) {
  EXPECT_NEAR(p_of_more({1, 5}, {4, 5}), 26.0 / 252, 1e-12);
  EXPECT_NEAR(p_of_more({0, 3}, {3, 3}), 1.0 / 20, 1e-12);
  EXPECT_NEAR(p_of_more({2, 4}, {0, 4}), 1, 1e-12);
}

TEST(CompareAction, WhatIsMuchFasterIsLookedAt) {
  EXPECT_EQ(action_text(held(side(false), side(true, {.first_case = 0.5}))),
            "look at what is TOO FAST");
  EXPECT_EQ(action_text(held(side(false), side(true, {.all_cases = 0.5}))),
            "look at what is TOO FAST");
  EXPECT_EQ(action_text(held(side(false), side(true, {.first_gpu = 0.5}))),
            "look at what is TOO FAST");
  EXPECT_EQ(action_text(held(side(false), side(true, {.first_case = 0.1}))), "roll out");
}

TEST(CompareAction, SidesTheWrongWayRoundAreNoRollout) {
  std::vector<Report> fresh = side(true);
  for (Report& report : fresh) report.launch.created_unix_s -= 1e6;
  EXPECT_EQ(action_text(held(side(false), fresh)),
            "give the older launches as --base, then compare again");
}

TEST(CompareAction, AFloorThatIsNotTheDefaultStandsInTheFirstLine) {
  const Comparison made =
      held(side(false), side(true, {.first_case = -0.3}),
           {.speed = {.floor = 0.4, .floors = {{.cases = "gemm.*", .floor = 0.015}}}});
  const std::string text = show_comparison(made, {.columns = 200});
  EXPECT_TRUE(has(text.substr(0, text.find('\n')), ", floor 40 %, 1 other floor of cases")) << text;
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

TEST(CompareAction, ADriverThatIsSlowerIsNotRolledOut) {
  const Comparison made = held(side(false), side(true, {.first_case = -0.05}));
  EXPECT_TRUE(show_comparison(made, {}).starts_with("RESULT: REGRESSION  do not roll out: "))
      << show_comparison(made, {});
}

}  // namespace
}  // namespace tidemark
