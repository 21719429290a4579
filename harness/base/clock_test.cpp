// The clocks: for durations, for deadlines of others, for records.
#include "harness/base/clock.hpp"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(RunningClock, counts_what_passes_between_looks) {
  RunningClock clock;
  EXPECT_EQ(clock.at(100), 0);
  EXPECT_EQ(clock.at(100.5), 0.5);
  EXPECT_EQ(clock.at(101.25), 1.25);
}

TEST(RunningClock, a_minute_in_which_nothing_ran_counts_as_a_second) {
  RunningClock clock;
  clock.at(100);
  EXPECT_EQ(clock.at(160), 1);
  EXPECT_EQ(clock.at(160.5), 1.5);
}

}  // namespace

}  // namespace tidemark
