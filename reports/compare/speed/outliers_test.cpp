// GPUs of a made-up fleet that lie apart, and fleets in which none does.
#include "reports/compare/speed/outliers.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "reports/render/show.hpp"
#include "reports/testing/said.hpp"
#include "reports/testing/synthetic_fleet.hpp"

namespace tidemark {
namespace {

SyntheticFleet fleet(std::uint32_t gpus, std::uint32_t cases) {
  SyntheticFleet made{.gpus = gpus, .cases = cases, .seed = 7};
  made.noise.gpu = 0.002;  // of a GPU from the others
  return made;
}

Report report_of(std::uint32_t gpus, std::uint32_t cases, const FleetChange& change) {
  return synthetic_launch(fleet(gpus, cases), 0, true, change);
}

Outliers found(const Report& report) { return outliers_of(facts_of(report, "test")); }

/// The rate of one case on one GPU, times a factor.
void scale(Report& report, std::uint32_t which_case, std::uint32_t gpu, double factor) {
  for (MetricRow& metric : report.metrics) {
    const ResultRow& result = report.results[metric.result_id];
    if (result.case_id == which_case && result.gpu_id == gpu) metric.median *= factor;
  }
}

TEST(Outliers, AFleetInWhichNothingIsOddHasNone) {
  const Outliers outliers = found(report_of(16, 10, {}));
  EXPECT_EQ(outliers.groups.size(), 0U);
  EXPECT_EQ(outliers.metrics, 10U);
  EXPECT_EQ(outliers.gpus, 16U);
}

TEST(Outliers, OneSlowGpuIsNamedWithItsDistance) {
  const Outliers outliers = found(report_of(16, 10, {.first_gpu = std::log(0.95)}));
  ASSERT_EQ(outliers.groups.size(), 1U);
  EXPECT_EQ(outliers.groups[0].gpus, std::vector<std::uint32_t>{0});
  EXPECT_TRUE(outliers.groups[0].metrics.empty());  // in all together
  EXPECT_TRUE(outliers.groups[0].slower);
  EXPECT_NEAR(outliers.groups[0].median, std::log(0.95), 0.005);
}

TEST(Outliers, ASlowNodeIsOneLine) {
  const Outliers outliers = found(report_of(64, 10, {.few_cases = std::log(0.952)}));
  ASSERT_EQ(outliers.groups.size(), 1U);
  EXPECT_EQ(outliers.groups[0].place, "node n000, all 8 GPUs");
  EXPECT_EQ(outliers.groups[0].metrics.size(), 3U);
}

TEST(Outliers, OneBadGpuDoesNotMakeItsNodeSlow) {
  const Outliers outliers = found(report_of(64, 10, {.first_gpu = std::log(0.8)}));
  ASSERT_EQ(outliers.groups.size(), 1U);
  EXPECT_EQ(outliers.groups[0].gpus, std::vector<std::uint32_t>{0});
}

TEST(Outliers, AGpuThatIsFasterIsNamedAsFaster) {
  const Outliers outliers = found(report_of(16, 10, {.first_gpu = std::log(1.05)}));
  ASSERT_EQ(outliers.groups.size(), 1U);
  EXPECT_FALSE(outliers.groups[0].slower);
}

TEST(Outliers, OfThreeGpusOneAtHalfTheSpeedIsNamed) {
  const Outliers outliers = found(report_of(3, 10, {.first_gpu = std::log(0.5)}));
  ASSERT_EQ(outliers.groups.size(), 1U);
  EXPECT_EQ(outliers.groups[0].gpus, std::vector<std::uint32_t>{0});
}

TEST(Outliers, OfEightThatDifferInEachMetricOneALittleSlowerInAllIsNamedAlone) {
  SyntheticFleet unlike{.gpus = 8, .cases = 100, .seed = 7};
  unlike.noise.apart = true;
  const Outliers outliers = found(synthetic_launch(unlike, 0, true, {.first_gpu = -0.02}));
  ASSERT_EQ(outliers.groups.size(), 1U);
  EXPECT_EQ(outliers.groups[0].gpus, std::vector<std::uint32_t>{0});
}

TEST(Outliers, OfFewerThanEightGpusNoneIsNamedInASingleMetric) {
  Report report = report_of(7, 10, {});
  scale(report, 3, 5, 0.5);
  EXPECT_EQ(found(report).groups.size(), 0U);
}

TEST(Outliers, TwoGpusAreNotJudged) {
  const Outliers outliers = found(report_of(2, 10, {.first_gpu = std::log(0.5)}));
  EXPECT_EQ(outliers.groups.size(), 0U);
  EXPECT_EQ(outliers.metrics, 0U);
}

TEST(Outliers, WhatIsBelowOnePercentIsNone) {
  Report report = report_of(16, 10, {});
  for (MetricRow& metric : report.metrics) metric.median = 600;  // no spread at all
  scale(report, 3, 5, 0.993);
  EXPECT_EQ(found(report).groups.size(), 0U);
}

TEST(Outliers, OneGpuApartWhereAllOthersAreEqualIsFound) {
  Report report = report_of(16, 10, {});
  for (MetricRow& metric : report.metrics) metric.median = 600;
  scale(report, 3, 5, 0.97);
  const Outliers outliers = found(report);
  ASSERT_EQ(outliers.groups.size(), 1U);
  EXPECT_EQ(outliers.groups[0].gpus, std::vector<std::uint32_t>{5});
  EXPECT_EQ(outliers.groups[0].metrics, std::vector<std::string>{"synthetic.case_0003/rate"});
}

TEST(Outliers, ATimeThatIsLongerIsSlower) {
  Report report = report_of(16, 10, {});
  for (MetricRow& metric : report.metrics) metric.higher_is_better = 0;
  for (std::uint32_t which = 0; which < 10; ++which) scale(report, which, 5, 1.1);
  const Outliers outliers = found(report);
  ASSERT_EQ(outliers.groups.size(), 1U);
  EXPECT_TRUE(outliers.groups[0].slower);
}

TEST(Outliers, ANumberBesideAFailureDoesNotCount) {
  Report report = report_of(16, 10, {.first_gpu = std::log(0.9)});
  for (ResultRow& result : report.results) {
    if (result.gpu_id == 0) result.verdict = Verdict::fail;
  }
  EXPECT_EQ(found(report).groups.size(), 0U);
}

TEST(Outliers, GpusOfAnotherModelAreNoPeers) {
  Report report = report_of(16, 10, {});
  report.strings.emplace_back("NVIDIA GH200");
  for (std::uint32_t gpu = 8; gpu < 16; ++gpu) {
    report.gpus[gpu].name = static_cast<std::uint32_t>(report.strings.size() - 1);
    for (std::uint32_t which = 0; which < 10; ++which) scale(report, which, gpu, 0.5);
  }
  const Outliers outliers = found(report);
  EXPECT_EQ(outliers.groups.size(), 0U);
  EXPECT_EQ(outliers.gpus, 16U);
}

TEST(Outliers, ShowNamesThemInEveryRenderingForPeople) {
  const Report report = report_of(64, 10, {.few_cases = std::log(0.952)});
  for (const std::string format : {"terminal", "md", "html"}) {
    const std::string text = show(report, {.columns = 200}, format);
    EXPECT_TRUE(has(text, "than the other GPUs: node n000, all 8 GPUs, 3 metrics: -4.")) << text;
  }
}

TEST(Outliers, ShowSaysThatThereAreNone) {
  const std::string text = show(report_of(16, 10, {}), {.columns = 200});
  EXPECT_TRUE(has(text, "no GPU lies apart from the others in 10 metrics over 16 GPUs")) << text;
}

}  // namespace
}  // namespace tidemark
