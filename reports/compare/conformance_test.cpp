// What became of each result between the two sides, and what waivers say of it.
#include "reports/compare/conformance.hpp"

#include <gtest/gtest.h>
#include <limits>
#include <set>

#include "reports/compare/comparison.hpp"
#include "reports/render/show.hpp"
#include "reports/testing/synthetic_fleet.hpp"

namespace tidemark::reports {
namespace {

const SyntheticFleet kFleet = {.gpus = 8, .cases = 6, .seed = 3};

Report before() { return synthetic_launch(kFleet, 0, false, {}); }

/// The first case fails on GPU 3.
Report after_with_failure() {
  Report made = synthetic_launch(kFleet, 0, true, {});
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

Comparison compared(const Report& fresh, const CompareOptions& options) {
  std::vector<LaunchFacts> base, after;
  base.push_back(facts_of(before(), "a.h5"));
  after.push_back(facts_of(fresh, "b.h5"));
  return compare_launches(std::move(base), std::move(after), options);
}

Comparison waived(const Report& fresh, const Waiver& waiver) {
  CompareOptions options;
  options.waivers = {waiver};
  return compared(fresh, options);
}

TEST(Waiving, AWaivedFailureIsListedAndIsNoNewFailure) {
  const Comparison comparison = waived(after_with_failure(), first_case("GPU-00000003*"));
  const auto found = findings_of(comparison);
  EXPECT_TRUE(found.contains("waived"));
  EXPECT_FALSE(found.contains("new_fail"));
  const std::string text = show_comparison(comparison, {});
  EXPECT_NE(text.find("WAIVED synthetic.case_0000  on node n000, GPU 3"), std::string::npos)
      << text;
  EXPECT_NE(text.find("waiver in use: synthetic.case_0000 on GPU-00000003*"), std::string::npos)
      << text;
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
  Report fresh = synthetic_launch(kFleet, 0, true, {});
  fresh.results[3].verdict = Verdict::not_run;
  EXPECT_TRUE(findings_of(waived(fresh, first_case())).contains("missing_in_new"));
}

TEST(Waiving, WhatIsMissingInOneLaunchIsSaidBesideAWaivedFailureInAnother) {
  Report missing = synthetic_launch(kFleet, 1, true, {});
  missing.results[3].verdict = Verdict::not_run;
  std::vector<LaunchFacts> base, after;
  base.push_back(facts_of(before(), "a.h5"));
  after.push_back(facts_of(after_with_failure(), "b.h5"));
  after.push_back(facts_of(missing, "c.h5"));
  CompareOptions options;
  options.waivers = {first_case("GPU-00000003*")};
  const auto found = findings_of(compare_launches(std::move(base), std::move(after), options));
  EXPECT_TRUE(found.contains("waived"));
  EXPECT_TRUE(found.contains("missing_in_new"));
}

TEST(Waiving, AResultThatTheLaunchWaivedIsListedWithoutAPolicy) {
  Report fresh = synthetic_launch(kFleet, 0, true, {});
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
  Report fresh = synthetic_launch(kFleet, 0, true, {});
  waive_in_launch(fresh);
  CompareOptions options;
  options.waivers.emplace();
  const auto found = findings_of(compared(fresh, options));
  EXPECT_TRUE(found.contains("new_fail"));
  EXPECT_FALSE(found.contains("waived"));
}

TEST(Waiving, WhatALaunchWaivedIsWhatItWasUnderThePolicyOfTheComparison) {
  Report fresh = synthetic_launch(kFleet, 0, true, {});
  waive_in_launch(fresh, Verdict::flaky);
  CompareOptions options;
  options.waivers.emplace();
  EXPECT_TRUE(findings_of(compared(fresh, options)).contains("flaky"));
  options.waivers = {first_case("GPU-00000003*")};
  const auto found = findings_of(compared(fresh, options));
  EXPECT_TRUE(found.contains("waived"));
  EXPECT_FALSE(found.contains("flaky"));
}

TEST(Waiving, AnExplanationCountsWhatIsWaived) {
  Report fresh = synthetic_launch(kFleet, 0, true, {});
  waive_in_launch(fresh);
  const std::string text = explain_case(compared(fresh, {}), "synthetic.case_0000", 100);
  EXPECT_NE(text.find("new  results: 7 pass, 0 bad, 1 waived, 0 without an answer, 0 skipped"),
            std::string::npos)
      << text;
}

TEST(Waiving, AnUnexpectedPassOfALaunchIsAPassUnderThePolicyOfTheComparison) {
  Report fresh = synthetic_launch(kFleet, 0, true, {});
  fresh.results[3].verdict = Verdict::unexpected_pass;
  CompareOptions options;
  options.waivers.emplace();
  EXPECT_TRUE(findings_of(compared(fresh, {})).contains("unexpected_pass"));
  EXPECT_FALSE(findings_of(compared(fresh, options)).contains("unexpected_pass"));
}

std::set<std::string> found_after_waived_base(Verdict now, const CompareOptions& options) {
  Report base_report = before(), fresh = synthetic_launch(kFleet, 0, true, {});
  waive_in_launch(base_report);
  fresh.results[3].verdict = now;
  std::vector<LaunchFacts> base, after;
  base.push_back(facts_of(base_report, "a.h5"));
  after.push_back(facts_of(fresh, "b.h5"));
  return findings_of(compare_launches(std::move(base), std::move(after), options));
}

TEST(Waiving, AFailureThatIsWaivedNoMoreIsANewFailure) {
  const auto found = found_after_waived_base(Verdict::hang, {});
  EXPECT_TRUE(found.contains("new_fail"));
  EXPECT_FALSE(found.contains("still_failing"));
  EXPECT_TRUE(found_after_waived_base(Verdict::flaky, {}).contains("flaky"));
}

TEST(Waiving, AFailureThatIsWaivedNoMoreIsANewFailureUnderThePolicyOfTheComparison) {
  CompareOptions options;
  options.waivers.emplace();
  EXPECT_TRUE(found_after_waived_base(Verdict::fail, options).contains("new_fail"));
  EXPECT_FALSE(found_after_waived_base(Verdict::pass, options).contains("new_fail"));
  EXPECT_TRUE(found_after_waived_base(Verdict::pass, options).contains("fixed"));
}

TEST(Waiving, AFailureThatNobodyWaivedInTheBaseIsStillFailing) {
  Report failing = before();
  failing.results[3].verdict = Verdict::fail;
  std::vector<LaunchFacts> base, after;
  base.push_back(facts_of(failing, "a.h5"));
  after.push_back(facts_of(after_with_failure(), "b.h5"));
  const auto found = findings_of(compare_launches(std::move(base), std::move(after), {}));
  EXPECT_TRUE(found.contains("still_failing"));
  EXPECT_FALSE(found.contains("new_fail"));
}

TEST(Waiving, APassAfterAWaivedFailureIsFixed) {
  std::vector<LaunchFacts> base, after;
  Report waived_before = before();
  waived_before.results[3].verdict = Verdict::waived;
  base.push_back(facts_of(waived_before, "a.h5"));
  after.push_back(facts_of(synthetic_launch(kFleet, 0, true, {}), "b.h5"));
  const Comparison comparison = compare_launches(std::move(base), std::move(after), {});
  EXPECT_TRUE(findings_of(comparison).contains("fixed"));
}

TEST(Waiving, ASlowerCaseIsWaivedByAWaiverOfItsSpeedAlone) {
  const Report slower = synthetic_launch(kFleet, 0, true, {.first_case = -0.2});
  const auto by_speed = findings_of(waived(slower, first_case("", "speed")));
  EXPECT_TRUE(by_speed.contains("waived"));
  EXPECT_FALSE(by_speed.contains("regressed"));
  EXPECT_TRUE(findings_of(waived(slower, first_case())).contains("regressed"));
}

TEST(Waiving, ASlowerCaseIsNotWaivedByAWaiverOfOneGpu) {
  const Report slower = synthetic_launch(kFleet, 0, true, {.first_case = -0.2});
  EXPECT_TRUE(
      findings_of(waived(slower, first_case("GPU-00000003*", "speed"))).contains("regressed"));
}

TEST(Waiving, OfTwoSlowerGpusEachKeepsItsOwnChange) {
  const SyntheticFleet fleet = {.gpus = 16, .cases = 12, .seed = 3};
  std::vector<LaunchFacts> base, after;
  for (std::uint32_t i = 0; i < 5; ++i) {
    base.push_back(facts_of(synthetic_launch(fleet, i, false, {}), "a.h5"));
    after.push_back(facts_of(
        synthetic_launch(fleet, i, true, {.first_gpu = -0.1, .second_gpu = -0.05}), "b.h5"));
  }
  CompareOptions options;
  options.waivers = {first_case("GPU-00000001*", "speed")};
  const Comparison made = compare_launches(std::move(base), std::move(after), options);
  for (const GpuFinding& finding : made.speed.gpus) {
    if (finding.of_case != 0) continue;
    ASSERT_EQ(finding.gpus, std::vector<std::uint32_t>{finding.waived ? 1U : 0U});
    EXPECT_NEAR(finding.range().first, finding.waived ? -0.05 : -0.1, 0.01);
    EXPECT_EQ(finding.range().first, finding.range().second);
  }
  EXPECT_TRUE(findings_of(made).contains("waived"));
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
    Report timeless = synthetic_launch(kFleet, 1, true, {});
    timeless.launch.created_unix_s = time;
    std::vector<LaunchFacts> base, after;
    base.push_back(facts_of(before(), "a.h5"));
    after.push_back(facts_of(after_with_failure(), "b.h5"));
    after.push_back(facts_of(timeless, "c.h5"));
    CompareOptions options;
    options.waivers = {first_case()};
    const Comparison comparison = compare_launches(std::move(base), std::move(after), options);
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
      with_older_driver_on_gpu(5, synthetic_launch(kFleet, 0, true, {.first_case = -0.2}));
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
  std::vector<LaunchFacts> base, after;
  Report older = with_older_driver_on_gpu(3, synthetic_launch(kFleet, 1, true, {}));
  older.results[3].verdict = Verdict::fail;
  base.push_back(facts_of(before(), "a.h5"));
  after.push_back(facts_of(older, "b.h5"));
  after.push_back(facts_of(after_with_failure(), "c.h5"));
  Waiver waiver = first_case();
  waiver.lowest_driver = "590";
  CompareOptions options;
  options.waivers = {waiver};
  EXPECT_TRUE(findings_of(compare_launches(std::move(base), std::move(after), options))
                  .contains("new_fail"));
}

TEST(Waiving, OfAnotherDriverItDoesNothing) {
  Waiver waiver = first_case();
  waiver.highest_driver = "580";  // the fresh side has 590.44.01
  EXPECT_TRUE(findings_of(waived(after_with_failure(), waiver)).contains("new_fail"));
}

TEST(Waiving, WhatAWaiverNotedIsNoBehaviour) {
  Report fresh = synthetic_launch(kFleet, 0, true, {}), base = before();
  for (Report* report : {&base, &fresh}) {
    report->cases[0].name = FixedText<128>::of("behaviour.example");
    report->strings.emplace_back(report == &base ? "seen" : "seen\nstale waiver: it passes");
    report->results[0].notes = static_cast<std::uint32_t>(report->strings.size() - 1);
  }
  std::vector<LaunchFacts> a, b;
  a.push_back(facts_of(base, "a.h5"));
  b.push_back(facts_of(fresh, "b.h5"));
  const Comparison comparison = compare_launches(std::move(a), std::move(b), {});
  EXPECT_FALSE(findings_of(comparison).contains("behaviour_changed"));
}

TEST(CaseFloor, TheLastThatMatchesCounts) {
  SpeedPolicy policy;
  policy.floors = {{"gemm.*", 0.02}, {"gemm.local.*", 0.03}};
  EXPECT_EQ(floor_of("load.tile.2d", policy), 0.01);
  EXPECT_EQ(floor_of("gemm.distributed.speed", policy), 0.02);
  EXPECT_EQ(floor_of("gemm.local.speed", policy), 0.03);
}

TEST(CaseFloor, AChangeBelowTheFloorOfItsCaseIsNoRegression) {
  const Report slower = synthetic_launch(kFleet, 0, true, {.first_case = -0.2});
  CompareOptions options;
  options.speed.floors = {{"synthetic.case_0000", 0.3}};
  EXPECT_FALSE(findings_of(compared(slower, options)).contains("regressed"));
  EXPECT_TRUE(findings_of(compared(slower, {})).contains("regressed"));
}

}  // namespace

}  // namespace tidemark::reports
