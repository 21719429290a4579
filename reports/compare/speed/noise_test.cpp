// Run-to-run noise, as stored and as expected where nothing is stored.
#include "reports/compare/speed/noise.hpp"

#include <gtest/gtest.h>
#include <cmath>
#include <limits>

#include "reports/base/scratch_folder.hpp"
#include "reports/compare/comparison.hpp"
#include "reports/render/show.hpp"
#include "reports/testing/synthetic_fleet.hpp"

namespace tidemark::reports {
namespace {

/// Cases, GPUs and launches that differ by nothing but what a test puts in.
const SyntheticFleet kStill = {.gpus = 4,
                               .cases = 1,
                               .seed = 5,
                               .noise = {.gpu = 0, .launch = 0, .iteration = 0, .shared = 0}};

std::vector<Report> launches(const SyntheticFleet& fleet, std::uint32_t count) {
  std::vector<Report> made;
  for (std::uint32_t i = 0; i < count; ++i) made.push_back(synthetic_launch(fleet, i, false, {}));
  return made;
}

std::vector<LaunchFacts> facts(const std::vector<Report>& reports) {
  std::vector<LaunchFacts> made;
  for (const Report& report : reports) made.push_back(facts_of(report, report.launch.run_id));
  return made;
}

/// Makes everything that one case measured in this launch `times` as fast.
void scale(Report& report, std::uint32_t which, double times) {
  for (MetricRow& metric : report.metrics) {
    if (report.results[metric.result_id].case_id == which) metric.median *= times;
  }
}

TEST(Noise, IsTheStandardDeviationOfTheLogarithmsOfLaunches) {
  std::vector<Report> three = launches(kStill, 3);
  scale(three[0], 0, std::exp(-0.02));
  scale(three[2], 0, std::exp(0.02));
  const std::vector<MetricNoise> noise = noise_between(facts(three), PairBy::uuid);
  ASSERT_EQ(noise.size(), 1U);
  EXPECT_EQ(noise[0].of_case, "synthetic.case_0000");
  EXPECT_EQ(noise[0].metric, "rate");
  EXPECT_NEAR(noise[0].spread, 0.02, 1e-12);
  EXPECT_EQ(noise[0].launches, 3U);
  EXPECT_EQ(noise[0].gpus, 4U);
}

TEST(Noise, DoesNotHoldWhatAllMetricsOfALaunchShare) {
  SyntheticFleet fleet = kStill;
  fleet.cases = 5;
  std::vector<Report> three = launches(fleet, 3);
  for (std::uint32_t which = 0; which < 5; ++which) scale(three[1], which, 1.1);
  for (const MetricNoise& one : noise_between(facts(three), PairBy::uuid)) {
    EXPECT_NEAR(one.spread, 0, 1e-12) << one.of_case;
  }
}

TEST(Noise, OfTwoLaunchesIsNotKnown) {
  std::vector<Report> three = launches(kStill, 3);
  for (ResultRow& result : three[1].results) result.verdict = Verdict::fail;
  const std::vector<MetricNoise> noise = noise_between(facts(three), PairBy::uuid);
  EXPECT_TRUE(std::isnan(noise.at(0).spread));
  EXPECT_EQ(noise.at(0).why, "only 2 launches have it");
}

TEST(Noise, IsKeptInAReportAndReadBack) {
  const ScratchFolder folder;
  Report report = synthetic_launch(kStill, 0, false, {});
  store_noise(report, {{.of_case = "synthetic.case_0000", .metric = "rate", .spread = 0.0033}});
  write_report(report, folder.file("a.h5"));
  const std::map<std::string, double> want = {{"synthetic.case_0000/rate", 0.0033}};
  EXPECT_EQ(stored_noise(read_own_report(folder.file("a.h5"))), want);
  EXPECT_EQ(facts_of(read_report(folder.file("a.h5")), "a").noise, want);
}

TEST(Noise, ThatIsStoredAgainTakesThePlaceOfWhatWasThere) {
  Report report = synthetic_launch(kStill, 0, false, {});
  store_noise(report, {{.of_case = "old", .metric = "rate", .spread = 0.5}});
  store_noise(report, {{.of_case = "new", .metric = "rate", .spread = 0.25}});
  EXPECT_EQ(stored_noise(report), (std::map<std::string, double>{{"new/rate", 0.25}}));
}

TEST(Noise, ThatIsNotKnownIsNotStored) {
  Report report = synthetic_launch(kStill, 0, false, {});
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  store_noise(report, {{.of_case = "one", .metric = "rate", .spread = nothing}});
  EXPECT_TRUE(report.provenance.empty());
}

TEST(Noise, ThatIsNoNumberIsLeftOut) {
  Report report = synthetic_launch(kStill, 0, false, {});
  for (const char* value : {"-1", "inf", "0.1x", "", "nan"}) {
    report.strings.emplace_back("noise.a/rate");
    report.strings.emplace_back(value);
    const auto end = static_cast<std::uint32_t>(report.strings.size());
    report.provenance.push_back({.key = end - 2, .value = end - 1});
  }
  EXPECT_TRUE(stored_noise(report).empty());
}

TEST(SmallestEffect, IsTheFloorWhereTheNoiseIsSmall) {
  EXPECT_NEAR(smallest_effect(0.0001, 5, 20), 0.01, 1e-4);
}

TEST(SmallestEffect, FollowsTheTestWhereThatAsksForMoreThanTheFloor) {
  // t of 12 degrees: 4.318 for 0.05 / (2 * 50), 0.873 for a fifth that is missed, 1.356 for a
  // tenth.
  const double standard_error = 0.003 * std::sqrt(0.4);
  EXPECT_NEAR(smallest_effect(0.003, 5, 50, {.floor = 0.001}),
              std::max((4.318 + 0.873) * standard_error, 3 * 0.003 + 1.356 * standard_error), 2e-5);
}

TEST(SmallestEffect, IsAboveTheFloorByWhatIsMeasuredBelowItEveryTenthTime) {
  EXPECT_NEAR(smallest_effect(0.003, 5, 1, {.floor = 0.03}), 0.03 + 1.356 * 0.003 * std::sqrt(0.4),
              2e-5);
}

TEST(SmallestEffect, IsNotKnownWithoutNoise) {
  EXPECT_TRUE(std::isnan(smallest_effect(std::numeric_limits<double>::quiet_NaN(), 5, 20)));
}

TEST(StoredNoise, OfTheSideThatIsJudgedRaisesNoFloor) {
  SyntheticFleet fleet{.gpus = 4, .cases = 2, .seed = 5};
  std::vector<LaunchFacts> base, fresh;
  base.push_back(facts_of(synthetic_launch(fleet, 0, false, {}), "a.h5"));
  Report after = synthetic_launch(fleet, 0, true, {.first_case = -0.2});
  store_noise(after, {{.of_case = "synthetic.case_0000", .metric = "rate", .spread = 0.5}});
  fresh.push_back(facts_of(after, "b.h5"));
  const Comparison made = compare_launches(std::move(base), std::move(fresh), {});
  EXPECT_EQ(made.speed.series.at(0).floor, 0.01);
  EXPECT_TRUE(std::isnan(made.speed.series.at(0).noise));
  EXPECT_TRUE(findings_of(made).contains("regressed"));
}

/// Two sides of five, the base with this noise stored.
Comparison with_stored_noise(double spread) {
  SyntheticFleet fleet = kStill;
  fleet.noise = {.launch = 0.001, .odd_launches = 0};
  std::vector<Report> base = launches(fleet, 5), fresh;
  for (std::uint32_t i = 0; i < 5; ++i) {
    fresh.push_back(synthetic_launch(fleet, i, true, {.first_case = -0.05}));
  }
  const MetricNoise noise = {.of_case = "synthetic.case_0000", .metric = "rate", .spread = spread};
  for (Report& report : base) store_noise(report, {noise});
  return compare_launches(facts(base), facts(fresh), {});
}

TEST(StoredNoise, SaysBesideEachFindingWhatWouldHaveBeenSeen) {
  const Comparison made = with_stored_noise(0.004);
  EXPECT_DOUBLE_EQ(made.speed.series.at(0).smallest_stored, smallest_effect(0.004, 5, 1));
  const std::string text = show_comparison(made, {.columns = 400});
  EXPECT_NE(text.find("by the stored noise 1.56 % would have been seen"), std::string::npos)
      << text;
  const std::string explained = explain_case(made, "synthetic.case_0000", 100);
  EXPECT_NE(explained.find("by the stored spread alone 1.56 %"), std::string::npos) << explained;
  EXPECT_NE(comparison_json(made).find("\"smallest_by_stored_noise\": 0.015"), std::string::npos);
}

TEST(StoredNoise, ThatIsAbsentIsNotTalkedOf) {
  const Comparison made = with_stored_noise(std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(std::isnan(made.speed.series.at(0).smallest_stored));
  EXPECT_EQ(show_comparison(made, {.columns = 400}).find("stored noise"), std::string::npos);
}

void slow_down(Report& report) {
  report.strings.emplace_back("slow.synthetic.case_0000");
  report.strings.emplace_back("3%");
  const auto end = static_cast<std::uint32_t>(report.strings.size());
  report.provenance.push_back({.key = end - 2, .value = end - 1});
}

TEST(SlowedOnPurpose, IsAConfounderThatIsNamed) {
  std::vector<Report> base = launches(kStill, 3), fresh;
  for (std::uint32_t i = 0; i < 3; ++i) fresh.push_back(synthetic_launch(kStill, i, true, {}));
  for (Report& report : fresh) slow_down(report);
  const Comparison made = compare_launches(facts(base), facts(fresh), {});
  EXPECT_EQ(made.setup.cause, Cause::confounded);
  EXPECT_EQ(cause_text(made),
            "nothing changed; what else differs may hide a change: slow.synthetic.case_0000");
  const std::string text = show_comparison(made, {.columns = 400});
  EXPECT_NE(text.find("confounder slow.synthetic.case_0000: not slowed -> 3%"), std::string::npos)
      << text;
  EXPECT_NE(text.find("SLOWED ON PURPOSE: synthetic.case_0000 by 3% in "), std::string::npos)
      << text;
}

TEST(SlowedOnPurpose, InOneLaunchOfABaseIsAConfounderToo) {
  std::vector<Report> base = launches(kStill, 3), fresh;
  for (std::uint32_t i = 0; i < 3; ++i) fresh.push_back(synthetic_launch(kStill, i, true, {}));
  slow_down(base[1]);
  for (Report& report : fresh) slow_down(report);
  const Comparison made = compare_launches(facts(base), facts(fresh), {});
  EXPECT_TRUE(made.setup.differs("slow.synthetic.case_0000"));
}

TEST(SlowedOnPurpose, OnBothSidesIsSaidAllTheSame) {
  std::vector<Report> base = launches(kStill, 1);
  std::vector<Report> fresh = {synthetic_launch(kStill, 0, true, {})};
  slow_down(base[0]);
  slow_down(fresh[0]);
  const Comparison made = compare_launches(facts(base), facts(fresh), {});
  EXPECT_EQ(made.setup.cause, Cause::driver);
  EXPECT_NE(show_comparison(made, {}).find("SLOWED ON PURPOSE"), std::string::npos);
}

}  // namespace

}  // namespace tidemark::reports
