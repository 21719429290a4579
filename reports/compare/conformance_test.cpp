// What became of each result between the two sides, and what waivers say of it.
#include "reports/compare/conformance.hpp"

#include <gtest/gtest.h>
#include <limits>
#include <set>

#include "reports/compare/comparison.hpp"
#include "reports/render/show.hpp"
#include "reports/testing/two_sides.hpp"

namespace tidemark {
namespace {

const SyntheticFleet kEight = {.gpus = 8, .cases = 6, .seed = 3};

Report before() { return synthetic_launch(kEight, 0, false, {}); }

/// The first case fails on GPU 3.
Report after_with_failure() {
  Report made = synthetic_launch(kEight, 0, true, {});
  made.results[3].verdict = Verdict::fail;
  return made;
}

Waiver first_case(const std::string& gpu = "", const std::string& what = "failure") {
  return {.cases = "synthetic.case_0000",
          .gpu = gpu,
          .owner = "Ann",
          .link = "T-1",
          .reason = "",
          .lowest_driver = "",
          .highest_driver = "",
          .expires = "2026-12-31",
          .waives = {what}};
}

CompareOptions under(const std::vector<Waiver>& policy) {
  CompareOptions made;
  made.waivers = policy;
  return made;
}

Comparison compared(const Report& fresh, const CompareOptions& options) {
  return held({before()}, {fresh}, options);
}

Comparison waived(const Report& fresh, const Waiver& waiver) {
  return compared(fresh, under({waiver}));
}

TEST(Waiving, AWaivedFailureIsListedAndIsNoNewFailure) {
  const Comparison comparison = waived(after_with_failure(), first_case("GPU-00000003*"));
  const auto found = findings_of(comparison);
  EXPECT_TRUE(found.contains("waived"));
  EXPECT_FALSE(found.contains("new_fail"));
  const std::string text = show_comparison(comparison, {});
  EXPECT_TRUE(has(text, "WAIVED synthetic.case_0000  on node n000, GPU 3")) << text;
  EXPECT_TRUE(has(text, "waiver in use: synthetic.case_0000 on GPU-00000003*")) << text;
}

TEST(Waiving, AFailureOfAnotherGpuIsNotWaived) {
  const Comparison comparison = waived(after_with_failure(), first_case("GPU-00000004*"));
  EXPECT_TRUE(findings_of(comparison).contains("new_fail"));
  EXPECT_TRUE(findings_of(comparison).contains("stale_waiver"));
}

TEST(Waiving, WhatIsWaivedFailsNotEvenOnAll) {
  EXPECT_FALSE(expanded({"all"}).contains("waived"));
  EXPECT_TRUE(expanded({"all"}).contains("new_fail"));
}

TEST(Waiving, WhatIsMissingIsNeverWaived) {
  Report fresh = synthetic_launch(kEight, 0, true, {});
  fresh.results[3].verdict = Verdict::not_run;
  EXPECT_TRUE(findings_of(waived(fresh, first_case())).contains("missing_in_new"));
}

TEST(Waiving, WhatIsMissingInOneLaunchIsSaidBesideAWaivedFailureInAnother) {
  Report missing = synthetic_launch(kEight, 1, true, {});
  missing.results[3].verdict = Verdict::not_run;
  const auto found = findings_of(
      held({before()}, {after_with_failure(), missing}, under({first_case("GPU-00000003*")})));
  EXPECT_TRUE(found.contains("waived"));
  EXPECT_TRUE(found.contains("missing_in_new"));
}

TEST(Waiving, AResultThatTheLaunchWaivedIsListedWithoutAPolicy) {
  Report fresh = synthetic_launch(kEight, 0, true, {});
  fresh.results[3].verdict = Verdict::waived;
  const auto found = findings_of(compared(fresh, {}));
  EXPECT_TRUE(found.contains("waived"));
  EXPECT_FALSE(found.contains("skipped_in_new"));
}

/// What a launch with waivers makes of a failure of the first case on GPU 3.
void waive_in_launch(Report& report, Verdict was = Verdict::fail) {
  report.strings.push_back(waived_reason(first_case(), was, "3 bytes differ"));
  report.results[3].verdict = Verdict::waived;
  report.results[3].reason = static_cast<std::uint32_t>(report.strings.size() - 1);
}

TEST(Waiving, WhatALaunchWaivedFailsUnderAPolicyThatDoesNotWaiveIt) {
  Report fresh = synthetic_launch(kEight, 0, true, {});
  waive_in_launch(fresh);
  const auto found = findings_of(compared(fresh, under({})));
  EXPECT_TRUE(found.contains("new_fail"));
  EXPECT_FALSE(found.contains("waived"));
}

TEST(Waiving, WhatALaunchWaivedIsWhatItWasUnderThePolicyOfTheComparison) {
  Report fresh = synthetic_launch(kEight, 0, true, {});
  waive_in_launch(fresh, Verdict::flaky);
  EXPECT_TRUE(findings_of(compared(fresh, under({}))).contains("flaky"));
  const auto found = findings_of(waived(fresh, first_case("GPU-00000003*")));
  EXPECT_TRUE(found.contains("waived"));
  EXPECT_FALSE(found.contains("flaky"));
}

TEST(Waiving, AnExplanationCountsWhatIsWaived) {
  Report fresh = synthetic_launch(kEight, 0, true, {});
  waive_in_launch(fresh);
  const std::string text = explain_case(compared(fresh, {}), "synthetic.case_0000", 100);
  EXPECT_TRUE(has(text, "new  results: 7 pass, 0 bad, 1 waived, 0 without an answer, 0 skipped"))
      << text;
}

TEST(Waiving, AnUnexpectedPassOfALaunchIsAPassUnderThePolicyOfTheComparison) {
  Report fresh = synthetic_launch(kEight, 0, true, {});
  fresh.results[3].verdict = Verdict::unexpected_pass;
  EXPECT_TRUE(findings_of(compared(fresh, {})).contains("unexpected_pass"));
  EXPECT_FALSE(findings_of(compared(fresh, under({}))).contains("unexpected_pass"));
}

std::set<std::string> found_after_waived_base(Verdict now, const CompareOptions& options) {
  Report base_report = before(), fresh = synthetic_launch(kEight, 0, true, {});
  waive_in_launch(base_report);
  fresh.results[3].verdict = now;
  return findings_of(held({base_report}, {fresh}, options));
}

TEST(Waiving, AFailureThatIsWaivedNoMoreIsANewFailure) {
  const auto found = found_after_waived_base(Verdict::hang, {});
  EXPECT_TRUE(found.contains("new_fail"));
  EXPECT_FALSE(found.contains("still_failing"));
  EXPECT_TRUE(found_after_waived_base(Verdict::flaky, {}).contains("flaky"));
}

TEST(Waiving, AFailureThatIsWaivedNoMoreIsANewFailureUnderThePolicyOfTheComparison) {
  const CompareOptions options = under({});
  EXPECT_TRUE(found_after_waived_base(Verdict::fail, options).contains("new_fail"));
  EXPECT_FALSE(found_after_waived_base(Verdict::pass, options).contains("new_fail"));
  EXPECT_TRUE(found_after_waived_base(Verdict::pass, options).contains("fixed"));
}

TEST(Waiving, AFailureThatNobodyWaivedInTheBaseIsStillFailing) {
  Report failing = before();
  failing.results[3].verdict = Verdict::fail;
  const auto found = findings_of(held({failing}, {after_with_failure()}));
  EXPECT_TRUE(found.contains("still_failing"));
  EXPECT_FALSE(found.contains("new_fail"));
}

TEST(Waiving, APassAfterAWaivedFailureIsFixed) {
  Report waived_before = before();
  waived_before.results[3].verdict = Verdict::waived;
  EXPECT_TRUE(findings_of(held({waived_before}, {synthetic_launch(kEight, 0, true, {})}))
                  .contains("fixed"));
}

TEST(Waiving, ASlowerCaseIsWaivedByAWaiverOfItsSpeedAlone) {
  const Report slower = synthetic_launch(kEight, 0, true, {.first_case = -0.2});
  const auto by_speed = findings_of(waived(slower, first_case("", "speed")));
  EXPECT_TRUE(by_speed.contains("waived"));
  EXPECT_FALSE(by_speed.contains("regressed"));
  EXPECT_TRUE(findings_of(waived(slower, first_case())).contains("regressed"));
}

TEST(Waiving, ASlowerCaseIsNotWaivedByAWaiverOfOneGpu) {
  const Report slower = synthetic_launch(kEight, 0, true, {.first_case = -0.2});
  EXPECT_TRUE(
      findings_of(waived(slower, first_case("GPU-00000003*", "speed"))).contains("regressed"));
}

TEST(Waiving, OfTwoSlowerGpusEachKeepsItsOwnChange) {
  const SyntheticFleet fleet = {.gpus = 16, .cases = 12, .seed = 3};
  Waiver waiver = first_case("GPU-00000001*", "speed");
  waiver.cases = "synthetic.*";
  const Comparison made =
      held(launches_of(fleet, false),
           launches_of(fleet, true, {.first_gpu = -0.1, .second_gpu = -0.05}), under({waiver}));
  ASSERT_EQ(made.speed.gpus.size(), 2U);
  for (const GpuFinding& finding : made.speed.gpus) {
    ASSERT_EQ(finding.gpus, std::vector<std::uint32_t>{finding.waived ? 1U : 0U});
    EXPECT_NEAR(finding.range().first, finding.waived ? -0.05 : -0.1, 0.01);
    EXPECT_EQ(finding.range().first, finding.range().second);
  }
  EXPECT_TRUE(findings_of(made).contains("waived"));
}

TEST(Waiving, AGpuThatIsSlowerInAllMetricsIsNotWaivedByAWaiverOfOneCase) {
  const Comparison made = held(side(false), side(true, {.first_gpu = -0.1}),
                               under({first_case("GPU-00000000*", "speed")}));
  ASSERT_EQ(made.speed.gpus.size(), 1U);
  EXPECT_FALSE(made.speed.gpus[0].waived);
}

TEST(Waiving, AWaiverIsHeldAgainstTheDayOfTheNewLaunch) {
  Report fresh = after_with_failure();
  fresh.launch.created_unix_s = 1798761600;  // 2027-01-01
  const Comparison comparison = waived(fresh, first_case());
  EXPECT_TRUE(findings_of(comparison).contains("new_fail"));
  ASSERT_EQ(comparison.waivers.size(), 1U);
  EXPECT_EQ(comparison.waivers[0].text.substr(0, 8), "expired:");
}

TEST(Waiving, BesideALaunchOfATimeThatNoLaunchHasNothingIsWaivedAndItIsSaid) {
  for (const double time : {-1e9, 0.0, std::numeric_limits<double>::quiet_NaN()}) {
    Report timeless = synthetic_launch(kEight, 1, true, {});
    timeless.launch.created_unix_s = time;
    const Comparison comparison =
        held({before()}, {after_with_failure(), timeless}, under({first_case()}));
    EXPECT_FALSE(findings_of(comparison).contains("waived")) << time;
    EXPECT_EQ(comparison.waivers.at(0).text.substr(0, 11), "not judged:");
  }
}

/// As of a fleet that is updated node by node.
Report with_older_driver_on_gpu(std::uint32_t gpu, Report report) {
  report.strings.emplace_back("580.105.08");
  report.gpus[gpu].driver = static_cast<std::uint32_t>(report.strings.size() - 1);
  return report;
}

TEST(Waiving, AMeanOverGpusOfSeveralDriversIsWaivedByAWaiverForAllOfThemAlone) {
  const Report slower =
      with_older_driver_on_gpu(5, synthetic_launch(kEight, 0, true, {.first_case = -0.2}));
  Waiver waiver = first_case("", "speed");
  waiver.lowest_driver = "590";
  const Comparison comparison = waived(slower, waiver);
  EXPECT_TRUE(findings_of(comparison).contains("regressed"));
  EXPECT_EQ(comparison.waivers.at(0).text,
            "not for this driver: synthetic.case_0000 (Ann, T-1, until 2026-12-31): the driver is "
            "580.105.08; 1 failure it names not waived");
  waiver.lowest_driver = "580";
  EXPECT_FALSE(findings_of(waived(slower, waiver)).contains("regressed"));
}

TEST(Waiving, AFailureIsHeldAgainstEveryDriverThatItsGpuHadAfterTheChange) {
  Report older = with_older_driver_on_gpu(3, synthetic_launch(kEight, 1, true, {}));
  older.results[3].verdict = Verdict::fail;
  Waiver waiver = first_case();
  waiver.lowest_driver = "590";
  EXPECT_TRUE(findings_of(held({before()}, {older, after_with_failure()}, under({waiver})))
                  .contains("new_fail"));
}

TEST(Waiving, OfAnotherDriverItDoesNothing) {
  Waiver waiver = first_case();
  waiver.highest_driver = "580";  // the fresh side has 590.44.01
  EXPECT_TRUE(findings_of(waived(after_with_failure(), waiver)).contains("new_fail"));
}

TEST(Waiving, WhatAWaiverNotedIsNoBehaviour) {
  Report fresh = synthetic_launch(kEight, 0, true, {}), base = before();
  for (Report* report : {&base, &fresh}) {
    report->cases[0].name = FixedText<128>::of("behaviour.example");
    report->strings.emplace_back(report == &base ? "seen" : "seen\nstale waiver: it passes");
    report->results[0].notes = static_cast<std::uint32_t>(report->strings.size() - 1);
  }
  EXPECT_FALSE(findings_of(held({base}, {fresh})).contains("behaviour_changed"));
}

TEST(CaseFloor, TheLastThatMatchesCounts) {
  SpeedPolicy policy;
  policy.floors = {{"gemm.*", 0.02}, {"gemm.local.*", 0.03}};
  EXPECT_EQ(floor_of("load.tile.2d", policy), 0.01);
  EXPECT_EQ(floor_of("gemm.distributed.speed", policy), 0.02);
  EXPECT_EQ(floor_of("gemm.local.speed", policy), 0.03);
}

TEST(CaseFloor, AChangeBelowTheFloorOfItsCaseIsNoRegression) {
  const Report slower = synthetic_launch(kEight, 0, true, {.first_case = -0.2});
  CompareOptions options;
  options.speed.floors = {{"synthetic.case_0000", 0.3}};
  EXPECT_FALSE(findings_of(compared(slower, options)).contains("regressed"));
  EXPECT_TRUE(findings_of(compared(slower, {})).contains("regressed"));
}

}  // namespace

}  // namespace tidemark
