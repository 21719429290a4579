// A number that is gone is missing, whatever the verdict beside it says.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "reports/compare/comparison.hpp"
#include "reports/compare/show_comparison.hpp"
#include "reports/compare/told.hpp"
#include "reports/compare/trials/synthetic_fleet.hpp"

namespace tidemark::reports {
namespace {

const SyntheticFleet kQuiet = {
    .gpus = 16, .cases = 12, .seed = 3, .noise = {.launch = 0.001, .odd_launches = 0}};
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<Report> side(bool fresh, const FleetChange& change = {}) {
  std::vector<Report> made;
  for (std::uint32_t i = 0; i < 5; ++i) {
    made.push_back(synthetic_launch(kQuiet, i, fresh, change));
  }
  return made;
}

MetricRow& metric_of(Report& report, std::uint32_t which, std::uint32_t gpu) {
  return report.metrics[which * report.gpus.size() + gpu];
}

Comparison compared(const std::vector<Report>& base, const std::vector<Report>& fresh) {
  std::vector<LaunchFacts> facts[2];
  for (const Report& report : base) facts[0].push_back(facts_of(report, report.launch.run_id));
  for (const Report& report : fresh) facts[1].push_back(facts_of(report, report.launch.run_id));
  return compare_launches(std::move(facts[0]), std::move(facts[1]), {});
}

bool says(const Comparison& comparison, std::string_view part) {
  return show_comparison(comparison, {.columns = 400}).find(part) != std::string::npos;
}

TEST(LostNumbers, OfFifteenOfSixteenGpusAreMissing) {
  std::vector<Report> fresh = side(true);
  for (Report& report : fresh) {
    for (std::uint32_t which = 0; which < 12; ++which) {
      for (std::uint32_t gpu = 1; gpu < 16; ++gpu) metric_of(report, which, gpu).median = kNan;
    }
  }
  const Comparison made = compared(side(false), fresh);
  EXPECT_EQ(headline_of(made), "MISSING");
  EXPECT_EQ(made.conformance.counts[static_cast<std::size_t>(ChangeKind::missing_in_new)],
            12U * 15U);
  EXPECT_TRUE(says(made, "LEFT OUT: 15 GPUs without a number in every launch"))
      << show_comparison(made, {});
}

TEST(LostNumbers, ASingleRateOfNoughtIsMissing) {
  std::vector<Report> fresh = side(true);
  metric_of(fresh[3], 4, 5).median = 0;
  const Comparison made = compared(side(false), fresh);
  EXPECT_TRUE(findings_of(made).contains("missing_in_new"));
  EXPECT_TRUE(says(made, "passed without a usable number: rate is 0"))
      << show_comparison(made, {.columns = 400});
}

TEST(LostNumbers, OfTheBaseAreMissingThere) {
  std::vector<Report> base = side(false);
  metric_of(base[0], 0, 0).median = -1;
  EXPECT_TRUE(findings_of(compared(base, side(true))).contains("missing_in_base"));
}

TEST(LostNumbers, OfBothSidesAreMissingInBoth) {
  std::vector<Report> base = side(false), fresh = side(true);
  for (std::vector<Report>* reports : {&base, &fresh}) {
    for (Report& report : *reports) metric_of(report, 0, 7).median = INFINITY;
  }
  EXPECT_TRUE(findings_of(compared(base, fresh)).contains("missing_in_both"));
}

TEST(LostNumbers, ARowThatIsGoneIsMissing) {
  std::vector<Report> fresh = side(true);
  for (Report& report : fresh) report.metrics.erase(report.metrics.begin());
  EXPECT_TRUE(findings_of(compared(side(false), fresh)).contains("missing_in_new"));
}

TEST(LostNumbers, AnotherUnitIsNoNumberOfTheMetric) {
  std::vector<Report> fresh = side(true);
  for (Report& report : fresh) {
    report.strings.emplace_back("GB/s");
    for (MetricRow& metric : report.metrics) {
      metric.unit = static_cast<std::uint32_t>(report.strings.size() - 1);
    }
  }
  const Comparison made = compared(side(false), fresh);
  EXPECT_TRUE(findings_of(made).contains("missing_in_new"));
  EXPECT_TRUE(says(made, "rate is in GB/s, elsewhere in TFLOP/s"));
}

TEST(LostNumbers, AnotherDirectionIsNoNumberOfTheMetric) {
  std::vector<Report> fresh = side(true);
  for (Report& report : fresh) {
    for (MetricRow& metric : report.metrics) metric.higher_is_better = 0;
  }
  EXPECT_TRUE(findings_of(compared(side(false), fresh)).contains("missing_in_new"));
}

TEST(LostNumbers, DoNotHideThatTheGpuIsSlower) {
  std::vector<Report> fresh = side(true, {.first_gpu = -0.10});
  for (std::uint32_t which = 0; which < 12; ++which) metric_of(fresh[2], which, 0).median = kNan;
  const Comparison made = compared(side(false), fresh);
  EXPECT_TRUE(findings_of(made).contains("missing_in_new"));
  EXPECT_EQ(headline_of(made), "REGRESSION") << show_comparison(made, {});
}

TEST(LostNumbers, OfAFailInTheBaseDoNotHideThatTheGpuIsSlower) {
  std::vector<Report> base = side(false);
  for (std::uint32_t which = 0; which < 12; ++which) {
    base[1].results[which * 16].verdict = Verdict::fail;
  }
  const Comparison made = compared(base, side(true, {.first_gpu = -0.10}));
  EXPECT_EQ(headline_of(made), "REGRESSION") << show_comparison(made, {});
}

const SyntheticFleet kTwoGpus = {
    .gpus = 2, .cases = 12, .seed = 3, .noise = {.launch = 0.001, .odd_launches = 0}};

std::vector<Report> side_of_two(bool fresh, const FleetChange& change = {}) {
  std::vector<Report> made;
  for (std::uint32_t i = 0; i < 5; ++i) {
    made.push_back(synthetic_launch(kTwoGpus, i, fresh, change));
  }
  return made;
}

TEST(LostNumbers, OfTooFewGpusToJudgeOneAloneDoNotHideThatItIsSlower) {
  std::vector<Report> base = side_of_two(false);
  for (std::uint32_t which = 0; which < 12; ++which) {
    base[1].results[which * 2].verdict = Verdict::fail;
  }
  const Comparison made = compared(base, side_of_two(true, {.first_gpu = -0.10}));
  EXPECT_EQ(headline_of(made), "REGRESSION") << show_comparison(made, {});
  EXPECT_TRUE(says(made, "LEFT OUT: 1 launch in which not every GPU has a number"))
      << show_comparison(made, {});
}

TEST(LostNumbers, OfOneOfTwoGpusInEachLaunchOfTheBaseLeaveTheAnswerOpen) {
  std::vector<Report> base = side_of_two(false);
  for (std::uint32_t i = 0; i < 5; ++i) base[i].results[i % 2].verdict = Verdict::fail;
  EXPECT_TRUE(findings_of(compared(base, side_of_two(true))).contains("inconclusive"));
}

TEST(LostNumbers, ThatNoLaunchHasAreMissingInBoth) {
  std::vector<Report> base = side(false), fresh = side(true);
  for (std::vector<Report>* reports : {&base, &fresh}) {
    for (Report& report : *reports) {
      for (MetricRow& metric : report.metrics) metric.median = kNan;
    }
  }
  const Comparison made = compared(base, fresh);
  EXPECT_EQ(headline_of(made), "MISSING") << show_comparison(made, {});
  EXPECT_EQ(made.conformance.counts[static_cast<std::size_t>(ChangeKind::missing_in_both)],
            12U * 16U);
}

TEST(LostNumbers, ARateThatIsNoughtEverywhereIsMissingInBoth) {
  std::vector<Report> base = side(false), fresh = side(true);
  for (std::vector<Report>* reports : {&base, &fresh}) {
    for (Report& report : *reports) {
      for (std::uint32_t gpu = 0; gpu < 16; ++gpu) metric_of(report, 0, gpu).median = 0;
    }
  }
  EXPECT_TRUE(findings_of(compared(base, fresh)).contains("missing_in_both"));
}

TEST(LostNumbers, WhereTheBaseHasNoughtAreMissingInTheNewSideAlone) {
  std::vector<Report> base = side(false), fresh = side(true);
  for (std::vector<Report>* reports : {&base, &fresh}) {
    for (Report& report : *reports) {
      for (std::uint32_t gpu = 0; gpu < 16; ++gpu) {
        metric_of(report, 0, gpu).median = 0;
        metric_of(report, 0, gpu).higher_is_better = 0;
      }
    }
  }
  for (Report& report : fresh) metric_of(report, 0, 0).median = kNan;
  const std::set<std::string> found = findings_of(compared(base, fresh));
  EXPECT_TRUE(found.contains("missing_in_new"));
  EXPECT_FALSE(found.contains("missing_in_both"));
}

TEST(LostNumbers, RowsThatAPassDidNotRunAreMissing) {
  std::vector<Report> fresh = side(true);
  fresh[3].results[5].rows_run = 0;
  const Comparison made = compared(side(false), fresh);
  EXPECT_TRUE(findings_of(made).contains("missing_in_new"));
  EXPECT_TRUE(says(made, "passed, but ran 0 of 1 planned rows")) << show_comparison(made, {});
}

TEST(LostNumbers, AreNoneBesideAnUnexpectedPass) {
  std::vector<Report> fresh = side(true, {.first_gpu = -0.10});
  for (Report& report : fresh) report.results[0].verdict = Verdict::unexpected_pass;
  const Comparison made = compared(side(false), fresh);
  EXPECT_FALSE(findings_of(made).contains("missing_in_new"));
  EXPECT_EQ(made.speed.series[0].gpus + made.speed.series[0].gpus_left_out, 16U);
  EXPECT_TRUE(made.speed.series[0].without.empty()) << show_comparison(made, {});
}

TEST(LostNumbers, ALaunchOfASeriesThatWasNotGivenIsReported) {
  std::vector<Report> base = side(false), fresh = side(true);
  for (std::uint32_t i = 0; i < 5; ++i) {
    fresh[i].launch.series_id = "s";
    fresh[i].launch.launch = i + 1;
    fresh[i].launch.launches = 5;
  }
  fresh.erase(fresh.begin() + 2);
  const Comparison made = compared(base, fresh);
  EXPECT_TRUE(findings_of(made).contains("incomplete"));
  EXPECT_TRUE(says(made, "launch 3 of 5 is not given")) << show_comparison(made, {});
}

TEST(LostNumbers, ASeriesThatClaimsBillionsOfLaunchesIsReportedAtOnce) {
  std::vector<Report> fresh = side(true);
  fresh[0].launch.launches = 0xffffffff;
  EXPECT_TRUE(
      says(compared(side(false), fresh), "launches 2, 3, 4, 5, 6, 7, 8, 9, ... of 4294967295"))
      << show_comparison(compared(side(false), fresh), {});
}

TEST(LostNumbers, ASeriesThatIsSplitBetweenTheSidesIsComplete) {
  std::vector<Report> base = side(false), fresh = side(true);
  for (std::uint32_t i = 0; i < 5; ++i) {
    base[i].launch.series_id = fresh[i].launch.series_id = "s";
    base[i].launch.launch = i + 1;
    fresh[i].launch.launch = i + 6;
    base[i].launch.launches = fresh[i].launch.launches = 10;
  }
  EXPECT_FALSE(findings_of(compared(base, fresh)).contains("incomplete"));
}

TEST(LostNumbers, OfGpusThatOneSideAloneHasAreInTheFirstLines) {
  std::vector<Report> fresh = side(true);
  for (Report& report : fresh) report.gpus[4].uuid = FixedText<48>::of("GPU-another");
  EXPECT_TRUE(
      says(compared(side(false), fresh), "\nLEFT OUT: 2 GPUs on one side only: node n000, "))
      << show_comparison(compared(side(false), fresh), {});
}

}  // namespace
}  // namespace tidemark::reports
