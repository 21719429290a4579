// What a report says of its own numbers: noise that older versions stored, benchmarks slowed on
// purpose.
#include <gtest/gtest.h>

#include "reports/compare/comparison.hpp"
#include "reports/render/show.hpp"
#include "reports/testing/two_sides.hpp"

namespace tidemark {
namespace {

/// Cases, GPUs and launches that differ by nothing but what a test puts in.
const SyntheticFleet kStill = {.gpus = 4,
                               .cases = 1,
                               .seed = 5,
                               .noise = {.gpu = 0, .launch = 0, .iteration = 0, .shared = 0}};

void put(Report& report, const std::string& key, const std::string& value) {
  report.strings.push_back(key);
  report.strings.push_back(value);
  const auto end = static_cast<std::uint32_t>(report.strings.size());
  report.provenance.push_back({.key = end - 2, .value = end - 1});
}

void slow_down(Report& report) { put(report, "slow.synthetic.case_0000", "3%"); }

TEST(SlowedOnPurpose, IsAConfounderThatIsNamed) {
  std::vector<Report> base = launches_of(kStill, false, {}, 3);
  std::vector<Report> fresh = launches_of(kStill, true, {}, 3);
  for (Report& report : fresh) slow_down(report);
  const Comparison made = held(base, fresh);
  EXPECT_EQ(made.setup.cause, Cause::confounded);
  EXPECT_EQ(cause_text(made),
            "nothing changed; what else differs may hide a change: slow.synthetic.case_0000");
  const std::string text = show_comparison(made, {.columns = 400});
  EXPECT_TRUE(has(text, "confounder slow.synthetic.case_0000: not slowed -> 3%")) << text;
  EXPECT_TRUE(has(text, "SLOWED ON PURPOSE: synthetic.case_0000 by 3% in ")) << text;
}

TEST(SlowedOnPurpose, InOneLaunchOfABaseIsAConfounderToo) {
  std::vector<Report> base = launches_of(kStill, false, {}, 3);
  std::vector<Report> fresh = launches_of(kStill, true, {}, 3);
  slow_down(base[1]);
  for (Report& report : fresh) slow_down(report);
  const Comparison made = held(base, fresh);
  EXPECT_TRUE(made.setup.differs("slow.synthetic.case_0000"));
}

TEST(SlowedOnPurpose, OnBothSidesIsSaidAllTheSame) {
  std::vector<Report> base = launches_of(kStill, false, {}, 1);
  std::vector<Report> fresh = {synthetic_launch(kStill, 0, true, {})};
  slow_down(base[0]);
  slow_down(fresh[0]);
  const Comparison made = held(base, fresh);
  EXPECT_EQ(made.setup.cause, Cause::driver);
  EXPECT_TRUE(has(show_comparison(made, {}), "SLOWED ON PURPOSE"));
}

// Older versions stored noise in a base, where one odd launch raised the floor to 20 %.
TEST(StoredNoise, OfAnOldReportHidesNoRegression) {
  const SyntheticFleet fleet{.gpus = 4, .cases = 6, .seed = 5};
  std::vector<Report> base = launches_of(fleet, false);
  for (Report& report : base) put(report, "noise.synthetic.case_0000/rate", "0.07");
  const Comparison made = held(base, launches_of(fleet, true, {.first_case = -0.1}));
  EXPECT_EQ(made.speed.series.at(0).verdict, SpeedVerdict::regressed);
  EXPECT_EQ(made.speed.series.at(0).floor, 0.01);
}

}  // namespace

}  // namespace tidemark
