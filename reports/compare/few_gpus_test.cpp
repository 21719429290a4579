// What compare says of hosts with two and three GPUs, of which none can be told from the others.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "reports/document/comparison/document.hpp"
#include "reports/render/show.hpp"
#include "reports/testing/two_sides.hpp"

namespace tidemark {
namespace {

std::vector<Report> few_gpus(std::uint32_t gpus, bool fresh, const FleetChange& change = {},
                             std::uint32_t launches = 5) {
  SyntheticFleet fleet = kFleet;
  fleet.gpus = gpus;
  return launches_of(fleet, fresh, change, launches);
}

/// Findings of this GPU, and no other, with this verdict.
std::size_t named_alone(const Comparison& made, std::uint32_t gpu, SpeedVerdict verdict) {
  std::size_t named = 0;
  for (const GpuFinding& finding : made.speed.gpus) {
    if (finding.verdict == verdict && finding.gpus == std::vector<std::uint32_t>{gpu}) ++named;
  }
  return named;
}

TEST(FewGpus, OneOfTwoThatIsSlowerIsNamedBesideOneThatIsFaster) {
  const Comparison made =
      held(few_gpus(2, false), few_gpus(2, true, {.first_gpu = -0.105, .second_gpu = 0.105}));
  EXPECT_EQ(named_alone(made, 0, SpeedVerdict::regressed), 1U) << show_comparison(made, {});
  EXPECT_EQ(named_alone(made, 1, SpeedVerdict::improved), 1U) << show_comparison(made, {});
  EXPECT_EQ(headline_of(made), "REGRESSION");
}

TEST(FewGpus, OneOfThreeThatIsSlowerInOneCaseIsNamedThereAlone) {
  const Comparison made = held(few_gpus(3, false), few_gpus(3, true, {.one_result = -0.05}));
  ASSERT_EQ(made.speed.gpus.size(), 1U) << show_comparison(made, {});
  EXPECT_EQ(made.speed.gpus[0].gpus, std::vector<std::uint32_t>{0});
  EXPECT_EQ(made.speed.gpus[0].of_case, 0U);
  ASSERT_EQ(made.speed.gpus[0].changes.size(), 1U);
  EXPECT_NEAR(made.speed.gpus[0].changes[0].total, -0.05, 0.005);
}

TEST(FewGpus, OfTwoThatLoseUnlikeTheOneThatLosesMoreIsNamed) {
  const Comparison made =
      held(few_gpus(2, false), few_gpus(2, true, {.first_gpu = -0.08, .second_gpu = -0.03}));
  EXPECT_EQ(named_alone(made, 0, SpeedVerdict::regressed), 1U) << show_comparison(made, {});
  EXPECT_EQ(named_alone(made, 1, SpeedVerdict::regressed), 0U);
}

TEST(FewGpus, AMeanThatStaysIsNotTheSameWhereOneOfThemMayHaveChanged) {
  SyntheticFleet fleet = kFleet;
  fleet.gpus = 2;
  std::vector<Report> base, fresh;
  for (std::uint32_t i = 0; i < 5; ++i) {
    const FleetChange first{.first_gpu = -0.08}, second{.second_gpu = -0.08};
    base.push_back(synthetic_launch(fleet, i, true, i % 2 == 0 ? second : first));
    fresh.push_back(synthetic_launch(fleet, 5 + i, true, first));
  }
  const Comparison made = held(base, fresh);
  EXPECT_EQ(headline_of(made), "INCONCLUSIVE") << show_comparison(made, {});
}

TEST(FewGpus, WhatAllOfThemLoseIsSaidOfTheCaseAlone) {
  const Comparison made = held(few_gpus(3, false), few_gpus(3, true, {.first_case = -0.05}));
  EXPECT_EQ(made.speed.series[0].verdict, SpeedVerdict::regressed);
  EXPECT_TRUE(made.speed.gpus.empty()) << show_comparison(made, {});
}

TEST(FewGpus, TwoLaunchesASideBelieveThreeFloorsOfAGpu) {
  const Comparison small =
      held(few_gpus(2, false, {}, 2), few_gpus(2, true, {.one_result = -0.025}, 2));
  EXPECT_TRUE(small.speed.gpus.empty()) << show_comparison(small, {});
  const Comparison large =
      held(few_gpus(2, false, {}, 2), few_gpus(2, true, {.one_result = -0.10}, 2));
  EXPECT_EQ(named_alone(large, 0, SpeedVerdict::regressed), 1U) << show_comparison(large, {});
}

TEST(FewGpus, WhatAllOfThemLoseInAllCasesIsSaidOnce) {
  const Comparison made = held(few_gpus(2, false), few_gpus(2, true, {.all_cases = -0.03}));
  EXPECT_EQ(made.speed.shared, SpeedVerdict::regressed);
  EXPECT_TRUE(made.speed.gpus.empty()) << show_comparison(made, {});
}

}  // namespace
}  // namespace tidemark
