// Levels of a metric over launches, and where they change.
#include "reports/history/levels.hpp"

#include <gtest/gtest.h>
#include <cmath>

#include "reports/testing/example_nights.hpp"

namespace tidemark {
namespace {

constexpr double kFloor = 0.01;

/// `levels`: where each begins and what it is; noise of up to 0.2 %.
std::vector<double> stairs(std::size_t length,
                           const std::vector<std::pair<std::size_t, double>>& levels) {
  std::vector<double> made;
  double level = 0;
  for (std::size_t i = 0; i < length; ++i) {
    for (const auto& [from, value] : levels) {
      if (i == from) level = value;
    }
    made.push_back(level + 0.002 * wobble(static_cast<std::uint32_t>(i)));
  }
  return made;
}

// The range of few nights is short by chance.
TEST(NewestStep, OfFewNightsHasToLieFartherOutside) {
  for (const std::size_t nights : {8, 40}) {
    std::vector<double> values;
    for (std::size_t i = 0; i < nights; ++i) values.push_back(i % 2 == 0 ? 0 : 0.04);
    values.push_back(0.07);  // three quarters of the range beyond it
    EXPECT_EQ(newest_step(values, kFloor) != 0, nights == 40) << nights;
  }
}

TEST(ChangePoints, NoneInNoiseAlone) {
  EXPECT_TRUE(change_points(stairs(60, {}), kFloor, 0.05).points.empty());
  EXPECT_GT(strongest_change(stairs(60, {}), 0.0005), 0.05);
}

TEST(ChangePoints, AStepIsFoundWhereItIsWithItsSize) {
  const auto found = change_points(stairs(40, {{17, -0.02}}), kFloor, 0.001).points;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].at, 17U);
  EXPECT_NEAR(found[0].step, -0.02, 0.001);
  EXPECT_LT(found[0].p, 1e-6);
}

TEST(ChangePoints, AStepBelowTheFloorIsNotTold) {
  EXPECT_EQ(change_points(stairs(40, {{17, -0.02}}), 0.03, 0.001).points.size(), 0U);
}

TEST(ChangePoints, AnExcursionHasTwoEnds) {
  const auto found = change_points(stairs(80, {{30, 0.03}, {36, 0}}), kFloor, 0.001).points;
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].at, 30U);
  EXPECT_EQ(found[1].at, 36U);
  EXPECT_LT(found[1].step, 0);
}

TEST(ChangePoints, ThreeLaunchesAtTheEndAreALevelAndTwoAreNot) {
  EXPECT_EQ(change_points(stairs(30, {{27, 0.05}}), kFloor, 0.001).points.size(), 1U);
  EXPECT_EQ(change_points(stairs(30, {{28, 0.05}}), kFloor, 0.001).points.size(), 0U);
}

TEST(ChangePoints, OneOddLaunchNeitherIsAChangeNorHidesOne) {
  std::vector<double> values = stairs(40, {{20, 0.02}});
  values[10] = -0.5;
  const auto found = change_points(values, kFloor, 0.001).points;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].at, 20U);
}

TEST(ChangePoints, AStepWithoutAnyNoiseIsFoundToo) {
  std::vector<double> values(12, 1.0);
  for (std::size_t i = 6; i < 12; ++i) values[i] = 1.5;
  const auto found = change_points(values, kFloor, 0.001).points;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].at, 6U);
  EXPECT_EQ(found[0].step, 0.5);
}

TEST(ChangePoints, ASeriesOfFiveHasNone) {
  EXPECT_TRUE(change_points(std::vector<double>{0, 0, 0, 1, 1}, kFloor, 1).points.empty());
  EXPECT_EQ(strongest_change(std::vector<double>{0, 0, 0, 1, 1}, kFloor), 1);
  EXPECT_EQ(strongest_change(std::vector<double>{}, kFloor), 1);
}

TEST(ChangePoints, AStepAtAReleaseBeginsThereThoughItsFirstNightIsOdd) {
  std::vector<double> values = stairs(40, {{20, -0.02}});
  values[20] += 0.02;
  const std::vector<std::size_t> release = {20};
  EXPECT_EQ(change_points(values, kFloor, 0.001).points.at(0).at, 21U);
  EXPECT_EQ(change_points(values, kFloor, 0.001, 1, release).points.at(0).at, 20U);
}

TEST(ChangePoints, AReleaseWithoutAStepIsNone) {
  const std::vector<std::size_t> release = {20};
  EXPECT_TRUE(change_points(stairs(40, {}), kFloor, 0.05, 1, release).points.empty());
}

TEST(ChangePoints, AStepBetweenReleasesIsFoundWhereItIs) {
  const std::vector<std::size_t> releases = {10, 30};
  const auto found = change_points(stairs(40, {{18, -0.02}}), kFloor, 0.001, 1, releases).points;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].at, 18U);
}

TEST(ChangePoints, AStepAtAReleaseThatIsOverSoonIsFoundWithBothEnds) {
  const std::vector<std::size_t> release = {30};
  const auto found = change_points(stairs(80, {{30, 0.03}, {36, 0}}), kFloor, 0.001, 1, release);
  ASSERT_EQ(found.points.size(), 2U);
  EXPECT_EQ(found.points[0].at, 30U);
  EXPECT_EQ(found.points[1].at, 36U);
}

TEST(Worth, IsThatOfEachReleaseForItself) {
  const std::vector<double> values = stairs(60, {{30, 0.009}});
  const std::vector<std::size_t> release = {30};
  EXPECT_LT(worth_of_steady(values).lags, 0.5);
  EXPECT_GT(worth_of_steady(values, release).lags, 0.5);
}

TEST(DiscoveryThreshold, IsTheLineOfBenjaminiAndHochberg) {
  EXPECT_DOUBLE_EQ(discovery_threshold({0.9, 0.001, 0.02, 0.8}, 0.05), 0.025);
  EXPECT_DOUBLE_EQ(discovery_threshold({0.9, 0.8, 0.7, 0.6}, 0.05), 0.0125);
  EXPECT_EQ(discovery_threshold({}, 0.05), 0);
}

TEST(ChangePoints, AWalkThatGoesFromNightToNightIsADriftAndNoStep) {
  std::vector<double> values(60);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = -0.001 * static_cast<double>(i);
  const Changes found = change_points(values, kFloor, 0.001);
  EXPECT_TRUE(found.points.empty());
  EXPECT_TRUE(found.drifts);
}

TEST(ChangePoints, AStepInNoiseThatIsFreshEachNightIsNoDrift) {
  const Changes found = change_points(stairs(40, {{17, -0.02}}), kFloor, 0.001);
  EXPECT_EQ(found.points.size(), 1U);
  EXPECT_FALSE(found.drifts);
}

TEST(ChangePoints, SeriesThatGoWithTheirPastAreWorthFewerValues) {
  std::vector<double> values(64);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = i / 8 % 2 == 0 ? 0.003 : -0.003;
  EXPECT_LT(worth_of_steady(values).lags, 0.4);
  EXPECT_GT(worth_of_steady(stairs(64, {})).lags, 0.6);
  EXPECT_TRUE(std::isnan(worth_of_steady(std::vector<double>(64, std::log(0.7))).lags));
}

TEST(Worth, OfNoiseThatKeepsNineTenthsOfTheNightBeforeIsSmall) {
  std::vector<double> values = {0};
  for (std::uint32_t i = 1; i < 60; ++i) values.push_back(0.9 * values.back() + 0.01 * wobble(i));
  EXPECT_LT(worth_of_steady(values).first, 0.2);
}

TEST(Worth, OfFreshNoiseIsAll) { EXPECT_EQ(worth_of_steady(stairs(60, {})).first, 1); }

TEST(Worth, OfALevelThatWasMissedIsAll) {
  EXPECT_EQ(worth_of_steady(stairs(120, {{60, 0.009}})).first, 1);
}

TEST(Worth, OfACountWithOneExcursionIsNotSaid) {
  std::vector<double> values(60, std::log(33.0));
  for (std::size_t i = 20; i < 26; ++i) values[i] = std::log(34.0);
  EXPECT_TRUE(std::isnan(worth_of_steady(values).first));
}

TEST(Levels, ATickOfTheClockIsNoChange) {
  std::vector<double> values(40);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = i % 9 == 4 || i >= 36 ? 0.016 : 0;  // the last four are the next tick, too
  EXPECT_EQ(strongest_change(values, 0.01), 1);
  EXPECT_TRUE(change_points(values, 0.01, 0.05).points.empty());
}

TEST(Levels, SeveralTicksAreAChange) {
  std::vector<double> values(40);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = (i % 9 == 4 ? 0.016 : 0) - (i >= 20 ? 0.064 : 0);
  ASSERT_EQ(change_points(values, 0.01, 0.05).points.size(), 1U);
}

}  // namespace

}  // namespace tidemark
