// What a report says of its own numbers: noise that older versions stored, benchmarks slowed on
// purpose.
#include <gtest/gtest.h>

#include "reports/compare/comparison.hpp"
#include "reports/render/show.hpp"
#include "reports/testing/synthetic_fleet.hpp"

namespace tidemark::reports {
namespace {

/// Cases, GPUs and launches that differ by nothing but what a test puts in.
const SyntheticFleet kStill = {.gpus = 4,
                               .cases = 1,
                               .seed = 5,
                               .noise = {.gpu = 0, .launch = 0, .iteration = 0, .shared = 0}};

std::vector<Report> launches(const SyntheticFleet& fleet, std::uint32_t count) {
  std::vector<Report> made;
  for (std::uint32_t i = 0; i < count; ++i) made.push_back(synthetic_launch(fleet, i, false, {}));
  return made;
}

std::vector<LaunchFacts> facts(const std::vector<Report>& reports) {
  std::vector<LaunchFacts> made;
  for (const Report& report : reports) made.push_back(facts_of(report, report.launch.run_id));
  return made;
}

void put(Report& report, const std::string& key, const std::string& value) {
  report.strings.push_back(key);
  report.strings.push_back(value);
  const auto end = static_cast<std::uint32_t>(report.strings.size());
  report.provenance.push_back({.key = end - 2, .value = end - 1});
}

// Older versions stored noise in a base, where one odd launch raised the floor to 20 %.
TEST(StoredNoise, OfAnOldReportHidesNoRegression) {
  const SyntheticFleet fleet{.gpus = 4, .cases = 6, .seed = 5};
  std::vector<Report> base = launches(fleet, 5), fresh;
  for (Report& report : base) put(report, "noise.synthetic.case_0000/rate", "0.07");
  for (std::uint32_t i = 0; i < 5; ++i) {
    fresh.push_back(synthetic_launch(fleet, i, true, {.first_case = -0.1}));
  }
  const Comparison made = compare_launches(facts(base), facts(fresh), {});
  EXPECT_EQ(made.speed.series.at(0).verdict, SpeedVerdict::regressed);
  EXPECT_EQ(made.speed.series.at(0).floor, 0.01);
}

void slow_down(Report& report) { put(report, "slow.synthetic.case_0000", "3%"); }

TEST(SlowedOnPurpose, IsAConfounderThatIsNamed) {
  std::vector<Report> base = launches(kStill, 3), fresh;
  for (std::uint32_t i = 0; i < 3; ++i) fresh.push_back(synthetic_launch(kStill, i, true, {}));
  for (Report& report : fresh) slow_down(report);
  const Comparison made = compare_launches(facts(base), facts(fresh), {});
  EXPECT_EQ(made.setup.cause, Cause::confounded);
  EXPECT_EQ(cause_text(made),
            "nothing changed; what else differs may hide a change: slow.synthetic.case_0000");
  const std::string text = show_comparison(made, {.columns = 400});
  EXPECT_NE(text.find("confounder slow.synthetic.case_0000: not slowed -> 3%"), std::string::npos)
      << text;
  EXPECT_NE(text.find("SLOWED ON PURPOSE: synthetic.case_0000 by 3% in "), std::string::npos)
      << text;
}

TEST(SlowedOnPurpose, InOneLaunchOfABaseIsAConfounderToo) {
  std::vector<Report> base = launches(kStill, 3), fresh;
  for (std::uint32_t i = 0; i < 3; ++i) fresh.push_back(synthetic_launch(kStill, i, true, {}));
  slow_down(base[1]);
  for (Report& report : fresh) slow_down(report);
  const Comparison made = compare_launches(facts(base), facts(fresh), {});
  EXPECT_TRUE(made.setup.differs("slow.synthetic.case_0000"));
}

TEST(SlowedOnPurpose, OnBothSidesIsSaidAllTheSame) {
  std::vector<Report> base = launches(kStill, 1);
  std::vector<Report> fresh = {synthetic_launch(kStill, 0, true, {})};
  slow_down(base[0]);
  slow_down(fresh[0]);
  const Comparison made = compare_launches(facts(base), facts(fresh), {});
  EXPECT_EQ(made.setup.cause, Cause::driver);
  EXPECT_NE(show_comparison(made, {}).find("SLOWED ON PURPOSE"), std::string::npos);
}

}  // namespace

}  // namespace tidemark::reports
