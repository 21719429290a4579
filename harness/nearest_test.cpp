// Tests of the suggestions for mistyped names.
#include "harness/nearest.hpp"

#include <gtest/gtest.h>

#include <array>

namespace tidemark::harness {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"load.tile.2d", "load.tile.3d", "store.tile.2d",
                                                    "zfill.2d"};

TEST(EditDistance, counts_one_for_each_change) {
  EXPECT_EQ(edit_distance("run", "run"), 0U);
  EXPECT_EQ(edit_distance("rnn", "run"), 1U);
  EXPECT_EQ(edit_distance("rn", "run"), 1U);
  EXPECT_EQ(edit_distance("rrun", "run"), 1U);
  EXPECT_EQ(edit_distance("rnu", "run"), 1U);
  EXPECT_EQ(edit_distance("", "run"), 3U);
}

TEST(EditDistance, star_and_question_mark_are_free) {
  EXPECT_EQ(edit_distance("load.*", "load.tile.2d"), 0U);
  EXPECT_EQ(edit_distance("*.2d", "load.tile.2d"), 0U);
  EXPECT_EQ(edit_distance("laod.*", "load.tile.2d"), 1U);
  EXPECT_EQ(edit_distance("load.tile.?d", "load.tile.2d"), 0U);
}

TEST(DidYouMean, names_only_the_nearest) {
  EXPECT_EQ(did_you_mean("load.tlie.3d", kNames), "did you mean 'load.tile.3d'?");
}

TEST(DidYouMean, names_those_that_are_equally_near_up_to_a_count) {
  EXPECT_EQ(did_you_mean("load.tile.d", kNames), "did you mean 'load.tile.2d', 'load.tile.3d'?");
  EXPECT_EQ(did_you_mean("load.tile.d", kNames, 1), "did you mean 'load.tile.2d'?");
}

TEST(DidYouMean, works_for_globs) {
  EXPECT_EQ(did_you_mean("zfil.*", kNames), "did you mean 'zfill.2d'?");
}

TEST(DidYouMean, stays_silent_when_nothing_is_near) {
  EXPECT_EQ(did_you_mean("qqqqqq", kNames), "");
}

}  // namespace
}  // namespace tidemark::harness
