// What the registry accepts, refuses and finds.
#include "suite/registry.hpp"

#include <gtest/gtest.h>

#include "kernels/error.hpp"

namespace tidemark {
namespace {

Case named(std::string_view name) { return {.name = name, .claim = "", .cites = ""}; }

TEST(Registry, SortsByName) {
  const auto sorted = sorted_catalogue({named("b.x"), named("a.y"), named("a.x")});
  ASSERT_EQ(sorted.size(), 3U);
  EXPECT_EQ(sorted[0].name, "a.x");
  EXPECT_EQ(sorted[1].name, "a.y");
  EXPECT_EQ(sorted[2].name, "b.x");
}

TEST(Registry, RefusesTwoCasesOfOneName) {
  EXPECT_THROW(sorted_catalogue({named("b.x"), named("a.x"), named("b.x")}), Error);
}

TEST(Registry, RefusesAMalformedName) {
  EXPECT_THROW(sorted_catalogue({named("Load.tile")}), Error);
}

TEST(Registry, KnowsWellFormedNames) {
  EXPECT_TRUE(well_formed_case_name("load.tile.rank1"));
  EXPECT_TRUE(well_formed_case_name("load.tile.2d"));
  EXPECT_TRUE(well_formed_case_name("scenario.cuda_oxide"));
  EXPECT_FALSE(well_formed_case_name(""));
  EXPECT_FALSE(well_formed_case_name("load"));
  EXPECT_FALSE(well_formed_case_name("load."));
  EXPECT_FALSE(well_formed_case_name(".load"));
  EXPECT_FALSE(well_formed_case_name("load..tile"));
  EXPECT_FALSE(well_formed_case_name("load.Tile"));
  EXPECT_FALSE(well_formed_case_name("load.tile-2d"));
  EXPECT_FALSE(well_formed_case_name("load._tile"));
}

TEST(Registry, FindsACaseByItsWholeName) {
  const Case* which = case_named("load.tile.rank2");
  ASSERT_NE(which, nullptr);
  EXPECT_EQ(which->name, "load.tile.rank2");
  EXPECT_EQ(case_named("load.tile"), nullptr);
}

TEST(CaseSeed, DependsOnLaunchAndName) {
  EXPECT_EQ(case_seed(1, "load.tile.rank1"), case_seed(1, "load.tile.rank1"));
  EXPECT_NE(case_seed(1, "load.tile.rank1"), case_seed(1, "load.tile.rank2"));
  EXPECT_NE(case_seed(1, "load.tile.rank1"), case_seed(2, "load.tile.rank1"));
}

TEST(CaseSeed, IsTheSameOnEveryMachine) {
  EXPECT_EQ(case_seed(42, "load.tile.rank1"), 38242879328097734ULL);
}

}  // namespace
}  // namespace tidemark
