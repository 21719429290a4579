// What happens to a fleet between two sides: GPUs that are sick now and then, odd launches, boards
// that move, updates of half of the nodes, sides in the wrong order.
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "reports/document/comparison/document.hpp"
#include "reports/render/show.hpp"
#include "reports/testing/two_sides.hpp"

namespace tidemark {
namespace {

/// Of all cases on one GPU.
void slow_down(Report& report, std::uint32_t gpu, double times) {
  for (MetricRow& metric : report.metrics)
    if (report.results[metric.result_id].gpu_id == gpu) metric.median *= times;
}

TEST(FleetLife, AGpuThatIsSlowInSomeLaunchesIsUnsteadyAndNotTheSame) {
  std::vector<Report> fresh = side(true);
  for (const std::size_t launch : {1U, 3U}) slow_down(fresh[launch], 5, 0.5);
  const Comparison made = held(side(false), fresh);
  ASSERT_EQ(made.speed.unsteady.size(), 1U);
  EXPECT_EQ(made.speed.unsteady[0].gpu, 5U);
  EXPECT_EQ(made.speed.unsteady[0].metrics, 12U);
  EXPECT_EQ(headline_of(made), "INCONCLUSIVE");
  EXPECT_EQ(action_text(made), "look at the GPUs that are UNSTEADY");
  EXPECT_TRUE(has(show_comparison(made, {.columns = 200}), "UNSTEADY: node n000, GPU 5 ("));
  EXPECT_TRUE(held(side(false), side(true)).speed.unsteady.empty());
}

TEST(FleetLife, ALaunchThatHardlyCountsIsNamed) {
  std::vector<Report> fresh = side(true);
  for (MetricRow& metric : fresh[2].metrics)
    metric.median *= 0.9 - 0.02 * (fresh[2].results[metric.result_id].case_id % 10);
  const Comparison made = held(side(false), fresh);
  ASSERT_EQ(made.speed.odd.size(), 1U);
  EXPECT_EQ(made.speed.odd[0].launch, 7U);
  EXPECT_LT(made.speed.odd[0].distance, -0.1);
  EXPECT_TRUE(has(show_comparison(made, {}), "\nODD LAUNCH: synthetic-3-new-2: -"));
}

/// Of one case in these launches.
void slow_case(std::vector<Report>& reports, std::uint32_t which,
               std::initializer_list<std::size_t> launches) {
  for (const std::size_t launch : launches)
    for (MetricRow& metric : reports[launch].metrics)
      if (reports[launch].results[metric.result_id].case_id == which) metric.median *= 0.9;
}

TEST(FleetLife, AMetricThatIsSlowInThreeOfFiveNewLaunchesIsARegression) {
  std::vector<Report> fresh = side(true);
  slow_case(fresh, 4, {0, 1, 3});
  const Comparison made = held(side(false), fresh);
  EXPECT_EQ(made.speed.series[4].verdict, SpeedVerdict::regressed);
  EXPECT_EQ(headline_of(made), "REGRESSION");
}

TEST(FleetLife, AllMetricsThatAreSlowInThreeOfFiveNewLaunchesAreARegression) {
  std::vector<Report> fresh = side(true);
  for (std::uint32_t which = 0; which < kFleet.cases; ++which) slow_case(fresh, which, {0, 1, 3});
  const Comparison made = held(side(false), fresh);
  EXPECT_EQ(made.speed.shared, SpeedVerdict::regressed);
}

TEST(FleetLife, AnOddLaunchOfTheBaseInOneMetricIsNamed) {
  std::vector<Report> base = side(false);
  slow_case(base, 4, {2});
  const Comparison made = held(base, side(true));
  ASSERT_EQ(made.speed.odd.size(), 1U);
  EXPECT_EQ(made.speed.odd[0].launch, 2U);
  EXPECT_EQ(made.speed.odd[0].metrics, std::vector<std::size_t>{4});
  EXPECT_NEAR(made.speed.odd[0].distance, std::log(0.9), 0.01);
}

TEST(FleetLife, AnOddLaunchOfEitherSideAsksForNoMore) {
  std::vector<Report> odd = side(false), fresh = side(true);
  slow_case(odd, 4, {2});
  EXPECT_EQ(action_text(held(odd, side(true))), "roll out");
  slow_case(fresh, 4, {2});
  EXPECT_EQ(action_text(held(side(false), fresh)), "roll out");
}

TEST(FleetLife, ALaunchThatIsOddInAllOfFewMetricsAsksForNoMore) {
  SyntheticFleet small = kFleet;
  small.cases = 6;
  std::vector<Report> fresh = launches_of(small, true);
  for (std::uint32_t which = 0; which < small.cases; ++which) slow_case(fresh, which, {2});
  const Comparison made = held(launches_of(small, false), fresh);
  ASSERT_EQ(made.speed.odd.size(), 1U);
  EXPECT_EQ(action_text(made), "roll out");
}

TEST(FleetLife, WhatIsSlowerWhereTheDriverStayedIsNotPutDownToIt) {
  std::vector<Report> fresh = side(true, {.first_node = -0.1});
  for (Report& report : fresh) {
    const Report old = synthetic_launch(kFleet, 0, false, {});
    report.strings.push_back(old.strings.at(old.gpus[0].driver));
    for (std::uint32_t gpu = 0; gpu < 8; ++gpu) {
      report.gpus[gpu].driver = static_cast<std::uint32_t>(report.strings.size() - 1);
      report.gpus[gpu].cuda_driver = old.gpus[gpu].cuda_driver;
    }
  }
  EXPECT_EQ(cause_text(held(side(false), fresh)), "inconclusive, may also be: other_gpus");
  for (Report& report : fresh)
    for (std::uint32_t gpu = 8; gpu < 16; ++gpu)
      std::swap(report.gpus[gpu].driver, report.gpus[gpu - 8].driver);
  EXPECT_EQ(held(side(false), fresh).setup.cause, Cause::driver);
}

TEST(FleetLife, NewLaunchesThatAreOlderThanTheBaseAreWarnedOf) {
  std::vector<Report> fresh = side(true);
  EXPECT_FALSE(held(side(false), fresh).setup.backwards);
  for (Report& report : fresh) report.launch.created_unix_s -= 1e6;
  const Comparison made = held(side(false), fresh);
  EXPECT_TRUE(made.setup.in_sequence);
  EXPECT_TRUE(has(show_comparison(made, {}), "\nSIDES: the new launches began before"));
}

TEST(FleetLife, ClocksThatFellWithTheSpeedStandBesideIt) {
  std::vector<Report> base = side(false), fresh = side(true, {.all_cases = -0.09});
  for (Report& report : base)
    for (ResultRow& result : report.results) result.sm_mhz = 1980;
  for (Report& report : fresh)
    for (ResultRow& result : report.results) result.sm_mhz = 1802;
  EXPECT_TRUE(has(shared_text(held(base, fresh)), "; sm_clock -8.99 %"));
  for (Report& report : fresh)
    for (ResultRow& result : report.results) result.sm_mhz = 1950;
  EXPECT_FALSE(has(shared_text(held(base, fresh)), "sm_clock"));
  for (Report& report : fresh)
    for (ResultRow& result : report.results) result.sm_mhz = 1802;
  for (ResultRow& result : base[0].results) result.sm_mhz = 1802;
  EXPECT_FALSE(has(shared_text(held(base, fresh)), "sm_clock"));
}

TEST(FleetLife, WhatRanAfterTheOtherMayBeTheTime) {
  std::vector<Report> fresh = side(true, {.first_case = -0.05});
  for (Report& report : fresh) report.launch.created_unix_s += 1e6;
  EXPECT_TRUE(has(cause_text(held(side(false), fresh)), ", the boot or the time: nothing else"));
}

TEST(FleetLife, TheDriverIsAllThatDiffersAfterSeveralBootsASide) {
  std::vector<Report> base = side(false), fresh = side(true, {.first_case = -0.05});
  for (std::vector<Report>* reports : {&base, &fresh})
    for (std::size_t i = 0; i < reports->size(); ++i) {
      Report& report = (*reports)[i];
      report.strings.push_back("boot " + std::to_string(i));
      for (NodeRow& node : report.nodes)
        node.boot_id = static_cast<std::uint32_t>(report.strings.size() - 1);
    }
  EXPECT_EQ(cause_text(held(base, fresh)),
            "the driver 580.105.08 -> 590.44.01 is all that differs of what can be the cause");
}

TEST(FleetLife, AGpuThatMovedIsNamedWhereItIsNow) {
  std::vector<Report> fresh = side(true);
  for (Report& report : fresh) {
    std::swap(report.gpus[0].uuid, report.gpus[8].uuid);
    report.launch.created_unix_s += 1e6;
  }
  const Comparison made = held(side(false), fresh);
  const PairedGpu& first = made.pairing.gpus[0];
  EXPECT_EQ(first.node, "n000");
  EXPECT_EQ(first.number, 0U);
  EXPECT_EQ(first.key, side(false)[0].gpus[8].uuid.view());
}

/// Eight GPUs, each with launch noise of its own.
Comparison launches_of_eight(std::uint64_t seed, const FleetChange& change) {
  const SyntheticFleet fleet = {.seed = seed, .noise = {.odd_launches = 0, .apart = true}};
  return held({synthetic_launch(fleet, 0, false, {})}, {synthetic_launch(fleet, 0, true, change)});
}

TEST(FleetLife, OneLaunchASideOfFewGpusNamesNoneOfThemByChance) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    EXPECT_TRUE(launches_of_eight(seed, {}).speed.gpus.empty()) << seed;
}

TEST(FleetLife, OneLaunchASideOfFewGpusNamesOneAtTwoThirdsOfItsSpeed) {
  const Comparison made = launches_of_eight(1, {.first_gpu = -0.5});
  ASSERT_FALSE(made.speed.gpus.empty());
  for (const GpuFinding& finding : made.speed.gpus)
    EXPECT_EQ(finding.gpus, std::vector<std::uint32_t>{0});
}

TEST(FleetLife, WhatAllMetricsLoseFromLaunchToLaunchIsDrift) {
  std::vector<Report> base = side(false), fresh = side(true);
  for (std::size_t i = 0; i < 5; ++i) {
    base[i].launch.created_unix_s = 1.77e9 + 300.0 * static_cast<double>(i);
    fresh[i].launch.created_unix_s = 1.77e9 + 300.0 * static_cast<double>(5 + i);
    for (MetricRow& metric : base[i].metrics)
      metric.median *= std::exp(-0.006 * static_cast<double>(i));
    for (MetricRow& metric : fresh[i].metrics)
      metric.median *= std::exp(-0.006 * static_cast<double>(5 + i));
  }
  const Comparison made = held(base, fresh);
  EXPECT_TRUE(made.speed.drift.of_all());
  EXPECT_EQ(cause_text(made), "inconclusive, may also be: drift");
  EXPECT_TRUE(has(show_comparison(made, {}), "\nDRIFT: all metrics together rise or fall"));
}

}  // namespace
}  // namespace tidemark
