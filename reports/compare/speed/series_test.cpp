// The values of a metric over launches and GPUs, and those that were lost.
#include "reports/compare/speed/series.hpp"

#include <gtest/gtest.h>
#include <cmath>
#include <limits>

#include "reports/compare/comparison.hpp"
#include "reports/document/comparison/document.hpp"
#include "reports/render/show.hpp"
#include "reports/testing/two_sides.hpp"

namespace tidemark {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<Report> side_of(std::uint32_t gpus, bool fresh) {
  SyntheticFleet fleet = kFleet;
  fleet.gpus = gpus;
  return launches_of(fleet, fresh);
}

MetricRow& metric_of(Report& report, std::uint32_t which, std::uint32_t gpu) {
  return report.metrics[which * report.gpus.size() + gpu];
}

bool says(const Comparison& comparison, std::string_view part) {
  return show_comparison(comparison, {.columns = 400}).find(part) != std::string::npos;
}

/// What becomes of the first metric of one GPU, whose clock moves by 5 %: of the base one launch
/// lies a step below the others, the new ones lie `steps` below.
SpeedVerdict after_steps(int steps) {
  std::vector<Report> base = side_of(1, false), fresh = side_of(1, true);
  for (Report& report : base) metric_of(report, 0, 0).median = 105;
  metric_of(base[2], 0, 0).median = 100;
  for (Report& report : fresh) metric_of(report, 0, 0).median = 105 * std::pow(100. / 105, steps);
  return held(base, fresh).speed.series[0].verdict;
}

TEST(CoarseClock, OneStepOfItIsNoChangeAndTwoAreOne) {
  EXPECT_EQ(after_steps(1), SpeedVerdict::ambiguous);
  EXPECT_EQ(after_steps(2), SpeedVerdict::regressed);
}

TEST(LostNumbers, OfTheBaseAreMissingThere) {
  std::vector<Report> base = side(false);
  metric_of(base[0], 0, 0).median = -1;
  EXPECT_TRUE(findings_of(held(base, side(true))).contains("missing_in_base"));
}

TEST(LostNumbers, OfOneOfTwoGpusInEachLaunchOfTheBaseLeaveTheAnswerOpen) {
  std::vector<Report> base = side_of(2, false);
  for (std::uint32_t i = 0; i < 5; ++i) base[i].results[i % 2].verdict = Verdict::fail;
  EXPECT_TRUE(findings_of(held(base, side_of(2, true))).contains("inconclusive"));
}

TEST(LostNumbers, ARateThatIsNoughtEverywhereIsMissingInBoth) {
  std::vector<Report> base = side(false), fresh = side(true);
  for (std::vector<Report>* reports : {&base, &fresh}) {
    for (Report& report : *reports) {
      for (std::uint32_t gpu = 0; gpu < 16; ++gpu) metric_of(report, 0, gpu).median = 0;
    }
  }
  EXPECT_TRUE(findings_of(held(base, fresh)).contains("missing_in_both"));
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
  const std::set<std::string> found = findings_of(held(base, fresh));
  EXPECT_TRUE(found.contains("missing_in_new"));
  EXPECT_FALSE(found.contains("missing_in_both"));
}

TEST(LostNumbers, AFewRowsThatAnotherSeedDidNotDrawAreNoneLost) {  // load.tile.pairs: 160 to 165
  std::vector<Report> base = side(false), fresh = side(true);
  for (std::vector<Report>* reports : {&base, &fresh}) {
    for (Report& report : *reports) {
      for (ResultRow& row : report.results) row.rows_planned = row.rows_run = 165;
    }
  }
  fresh[2].results[5].rows_planned = fresh[2].results[5].rows_run = 160;
  EXPECT_FALSE(findings_of(held(base, fresh)).contains("missing_in_new"));
}

TEST(LostNumbers, FewerRowsOfFewerGpusThatWorkTogetherAreNoneLost) {
  std::vector<Report> base = side(false), fresh = side_of(8, true);
  for (std::vector<Report>* reports : {&base, &fresh}) {
    for (Report& report : *reports) {
      report.strings.emplace_back("all_gpus");
      report.cases[0].scope = static_cast<std::uint32_t>(report.strings.size() - 1);
      for (ResultRow& row : report.results) {
        row.rows_planned = row.rows_run = reports == &base && row.case_id == 0 ? 18 : 9;
      }
    }
  }
  EXPECT_FALSE(says(held(base, fresh), "elsewhere 18"));
}

TEST(LostNumbers, FewerRowsOfAnotherLevelAreNoneLost) {
  std::vector<Report> base = side(false), fresh = side(true);
  for (Report& report : base) report.results[5].rows_planned = report.results[5].rows_run = 8;
  for (Report& report : fresh) report.launch.level = "quick";
  EXPECT_FALSE(findings_of(held(base, fresh)).contains("missing_in_new"));
}

TEST(LostNumbers, AreNoneBesideAnUnexpectedPass) {
  std::vector<Report> fresh = side(true);
  for (Report& report : fresh) report.results[0].verdict = Verdict::unexpected_pass;
  const Comparison made = held(side(false), fresh);
  EXPECT_FALSE(findings_of(made).contains("missing_in_new"));
  EXPECT_EQ(made.speed.series[0].gpus + made.speed.series[0].gpus_left_out, 16U);
  EXPECT_TRUE(made.speed.series[0].without.empty()) << show_comparison(made, {});
}

TEST(LostNumbers, ASeriesThatClaimsBillionsOfLaunchesIsReportedAtOnce) {
  std::vector<Report> fresh = side(true);
  fresh[0].launch.launches = 0xffffffff;
  EXPECT_TRUE(says(held(side(false), fresh), "launches 2, 3, 4, 5, 6, 7, 8, 9, ... of 4294967295"))
      << show_comparison(held(side(false), fresh), {});
}

TEST(LostNumbers, OfLaunchesThatDisagreeTheLongestSeriesCounts) {
  std::vector<Report> fresh = side(true);
  for (std::uint32_t i = 0; i < 5; ++i) {
    fresh[i].launch.series_id = "s";
    fresh[i].launch.launch = i + 1;
    fresh[i].launch.launches = i == 0 ? 6 : 5;
  }
  EXPECT_TRUE(says(held(side(false), fresh), "launch 6 of 6 is not given"))
      << show_comparison(held(side(false), fresh), {});
}

TEST(LostNumbers, ASeriesThatIsSplitBetweenTheSidesIsComplete) {
  std::vector<Report> base = side(false), fresh = side(true);
  for (std::uint32_t i = 0; i < 5; ++i) {
    base[i].launch.series_id = fresh[i].launch.series_id = "s";
    base[i].launch.launch = i + 1;
    fresh[i].launch.launch = i + 6;
    base[i].launch.launches = fresh[i].launch.launches = 10;
  }
  EXPECT_FALSE(findings_of(held(base, fresh)).contains("incomplete"));
}

TEST(LostNumbers, OfAGpuWithoutAUuidAreInTheFirstLines) {
  std::vector<Report> base = side(false), fresh = side(true);
  for (std::vector<Report>* reports : {&base, &fresh})
    for (Report& report : *reports) report.gpus[4].uuid = {};
  EXPECT_TRUE(says(held(base, fresh), "\nLEFT OUT: 1 GPU without a UUID"))
      << show_comparison(held(base, fresh), {});
}

TEST(LostNumbers, OfGpusThatOneSideAloneHasAreInTheFirstLines) {
  std::vector<Report> fresh = side(true);
  for (Report& report : fresh) report.gpus[4].uuid = FixedText<48>::of("GPU-another");
  EXPECT_TRUE(says(held(side(false), fresh), "\nLEFT OUT: 2 GPUs on one side only: node n000, "))
      << show_comparison(held(side(false), fresh), {});
}

}  // namespace

}  // namespace tidemark
