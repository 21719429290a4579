// The statistics on numbers whose answers are known.
#include "reports/compare/speed/moderated.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "reports/base/statistics.hpp"

namespace tidemark {
namespace {

TEST(Moderated, ANoisyGpuIsNotDrawnTowardsQuietOnes) {
  LaunchMatrix matrix(8, 10, 5);
  for (std::size_t gpu = 0; gpu < 8; ++gpu) {
    const double noise = gpu == 0 ? 0.02 : 0.002;
    for (std::size_t launch = 0; launch < 10; ++launch) {
      matrix.at(gpu, launch) = (launch + gpu) % 2 == 0 ? noise : -noise;
    }
  }
  const Effects effects = moderated_effects(matrix);
  EXPECT_EQ(effects.rows[0].degrees, 8);
  EXPECT_GT(effects.rows[1].degrees, 8);
}

TEST(StudentT, AgreesWithPrintedTables) {
  EXPECT_NEAR(student_two_sided(12.706, 1), 0.05, 1e-5);
  EXPECT_NEAR(student_two_sided(2.228, 10), 0.05, 1e-4);
  EXPECT_NEAR(student_two_sided(-4.587, 10), 0.001, 1e-5);
  EXPECT_NEAR(student_upper(0.025, 8), 2.306, 1e-3);
  EXPECT_NEAR(student_upper(0.0005, 12), 4.318, 1e-3);
}

TEST(StudentT, WithoutDegreesNothingIsKnown) { EXPECT_TRUE(std::isnan(student_two_sided(3, 0))); }

TEST(FalseDiscovery, MultipliesByTestsOverRankAndStaysMonotonic) {
  const std::vector<double> p = {0.01, 0.04, 0.03, 0.5};
  const std::vector<double> q = false_discovery_rates(p);
  EXPECT_DOUBLE_EQ(q[0], 0.04);
  EXPECT_DOUBLE_EQ(q[1], 0.16 / 3);
  EXPECT_DOUBLE_EQ(q[2], 0.16 / 3);
  EXPECT_DOUBLE_EQ(q[3], 0.5);
}

TEST(FalseDiscovery, WhatIsNotKnownDoesNotCount) {
  const std::vector<double> p = {std::numeric_limits<double>::quiet_NaN(), 0.02};
  const std::vector<double> q = false_discovery_rates(p);
  EXPECT_TRUE(std::isnan(q[0]));
  EXPECT_DOUBLE_EQ(q[1], 0.02);
}

TEST(Moderated, OneRowIsPooledStudent) {
  LaunchMatrix matrix(1, 6, 3);
  matrix.values = {1, 2, 3, 4, 5, 6};
  const Effects made = moderated_effects(matrix);
  EXPECT_FALSE(made.separated);
  EXPECT_DOUBLE_EQ(made.rows[0].effect, 3);
  EXPECT_DOUBLE_EQ(made.rows[0].degrees, 4);
  EXPECT_NEAR(made.rows[0].p, 0.02131, 1e-4);  // t = 3.674 with 4 degrees
}

TEST(Moderated, AShiftOfAllRowsIsTakenOffEachAndGivenApart) {
  LaunchMatrix matrix(4, 4, 2);
  matrix.values = {0, 0, 1, 1, 5, 5, 6, 6, 2, 2, 3, 3, 7, 7, 9, 9};
  const Effects made = moderated_effects(matrix);
  EXPECT_TRUE(made.separated);
  EXPECT_DOUBLE_EQ(made.shared.effect, 1);
  EXPECT_NEAR(made.rows[0].effect, 0, 1e-12);
  EXPECT_NEAR(made.rows[3].effect, 1, 1e-12);
}

TEST(Moderated, ALaunchInWhichAllRowsScatterFiveTimesAsFarCountsA25th) {
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 0.003);
  LaunchMatrix matrix(400, 10, 5);
  for (std::size_t row = 0; row < 400; ++row) {
    for (std::size_t launch = 0; launch < 10; ++launch) {
      matrix.at(row, launch) = noise(random) * (launch == 7 ? 5 : 1);
    }
  }
  const double weight = moderated_effects(matrix).weights[7];
  EXPECT_GT(weight, 1.0 / 50);  // less would make every variance too small
  EXPECT_LT(weight, 1.0 / 15);
}

TEST(Moderated, RowsThatHardlyDifferHaveNoPartInWeightsAndShift) {
  LaunchMatrix matrix(40, 10, 5);
  for (std::size_t row = 0; row < 40; ++row) {
    for (std::size_t launch = 0; launch < 10; ++launch) {
      const bool up = ((row * 7 + launch * 5) % 4) < 2;
      // 28 counts that move in one step in one launch alone, and 12 rates that are 3 % slower.
      matrix.at(row, launch) = row < 28 ? (launch == 4 ? (up ? 4e-5 : -4e-5) : 0)
                                        : (up ? 0.003 : -0.003) - (launch >= 5 ? 0.03 : 0);
    }
  }
  std::vector<bool> counts(40, false);
  std::fill_n(counts.begin(), 28, true);
  const Effects made = moderated_effects(matrix, counts);
  EXPECT_TRUE(made.exact[0]);
  EXPECT_FALSE(made.exact[39]);
  EXPECT_NEAR(made.shared.effect, -0.03, 0.002);
  EXPECT_DOUBLE_EQ(made.weights[4], 1);
  EXPECT_NEAR(made.rows[0].effect, 0, 1e-4);
}

TEST(Moderated, ARateThatHardlyDiffersByChanceIsNotExact) {
  const LaunchMatrix matrix = [] {
    LaunchMatrix made(5, 6, 3);
    made.values.assign(30, 1.0);
    return made;
  }();
  EXPECT_FALSE(moderated_effects(matrix, std::vector<bool>(5, false)).exact[0]);
}

TEST(FarValues, SeveralDoNotHideEachOther) {
  const std::vector<double> values = {0.001, -0.002, 0.003, -0.2, 0.002, -0.21, -0.001, 0.0};
  const auto found = far_values(values, {}, 0.01, 0);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].at, 5U);
  EXPECT_EQ(found[1].at, 3U);
}

TEST(FarValues, OneOfThreeIsFoundWhereTheOthersAreClose) {
  const std::vector<double> values = {-0.5, 0.0001, 0.0};
  ASSERT_EQ(far_values(values, {}, 0.01, 1e-3).size(), 1U);
}

TEST(Moderated, CountsShareAPriorOfTheirOwn) {
  LaunchMatrix matrix(24, 10, 5);
  std::vector<bool> counts(24, false);
  for (std::size_t row = 0; row < 24; ++row) {
    counts[row] = row < 12;
    for (std::size_t launch = 0; launch < 10; ++launch) {
      const auto drawn = static_cast<double>((row * 131 + launch * launch * 17) % 29) / 29 - 0.5;
      matrix.at(row, launch) = drawn * (row < 12 ? 0.001 : 0.1);
    }
  }
  const Effects apart = moderated_effects(matrix, counts);
  const Effects together = moderated_effects(matrix);
  EXPECT_LT(apart.rows[0].spread, together.rows[0].spread);
  EXPECT_LT(apart.rows[0].spread, 0.001);
}

TEST(Moderated, FewRowsThatScatterUnlikeEachOtherSayLittleOfEachOther) {
  LaunchMatrix matrix(5, 10, 5);
  const double noise[] = {1e-4, 3e-5, 1e-5, 3e-6, 1e-6};
  for (std::size_t row = 0; row < 5; ++row) {
    for (std::size_t launch = 0; launch < 10; ++launch) {
      matrix.at(row, launch) = (launch + row) % 2 == 0 ? noise[row] : -noise[row];
    }
  }
  const Effects made = moderated_effects(matrix, std::vector<bool>(5, true));
  const double own = 1e-4 * std::sqrt(9.6 / 8);  // a drawn-in spread makes the interval too narrow
  EXPECT_GT(made.rows[0].spread, 0.95 * own);
}

}  // namespace

}  // namespace tidemark
