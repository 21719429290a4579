// The middle, the quartiles and the ends of some numbers.
#include "reports/base/statistics.hpp"

#include <gtest/gtest.h>
#include <cmath>
#include <limits>

namespace tidemark {
namespace {

TEST(Statistics, OddNumberOfSamples) {
  const Statistics made = statistics_of({9, 1, 2, 4, 100});
  EXPECT_EQ(made.median, 4);
  EXPECT_EQ(made.mad, 3);  // of 5 3 2 0 96
  EXPECT_EQ(made.min, 1);
  EXPECT_EQ(made.max, 100);
  EXPECT_EQ(made.mean, 23.2);
}

TEST(Statistics, EvenNumberOfSamplesTakesTheMiddle) {
  EXPECT_EQ(statistics_of({1, 2, 4, 9}).median, 3);
}

TEST(Statistics, WhatIsNotFiniteDoesNotCount) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Statistics made = statistics_of({std::nan(""), 5, infinity, 7});
  EXPECT_EQ(made.finite, 2U);
  EXPECT_EQ(made.median, 6);
  EXPECT_EQ(made.max, 7);
}

TEST(Statistics, WithoutSamplesEverythingIsNan) {
  const Statistics made = statistics_of({std::nan("")});
  EXPECT_EQ(made.finite, 0U);
  EXPECT_TRUE(std::isnan(made.median) && std::isnan(made.mad) && std::isnan(made.min) &&
              std::isnan(made.max) && std::isnan(made.mean));
}

TEST(Statistics, HugeSamplesDoNotOverflowTheMedian) {
  EXPECT_EQ(statistics_of({1.5e308, 1.7e308}).median, 1.6e308);
}

}  // namespace

}  // namespace tidemark
