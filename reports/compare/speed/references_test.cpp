// Sides that are equally sick, held against what their model has.
#include "reports/compare/speed/references.hpp"

#include <gtest/gtest.h>

#include "reports/base/words.hpp"
#include "reports/compare/comparison.hpp"
#include "reports/render/show.hpp"
#include "reports/testing/said.hpp"
#include "reports/testing/synthetic_fleet.hpp"

namespace tidemark {
namespace {

std::vector<LaunchFacts> side(bool fresh, double all_slower) {
  std::vector<LaunchFacts> made;
  for (std::uint32_t i = 0; i < 5; ++i) {
    Report report = synthetic_launch(
        {.gpus = 4, .cases = 12, .noise = {.launch = 0.001, .odd_launches = 0}}, i, fresh, {});
    for (MetricRow& metric : report.metrics) metric.median *= 1 - all_slower;
    made.push_back(facts_of(report, report.launch.run_id));
  }
  return made;
}

std::string compared(double both_slower) {
  const References healthy = read_references(references_json(side(false, 0)), "healthy");
  return show_comparison(
      compare_launches(side(false, both_slower), side(true, both_slower), {.references = healthy}),
      {.columns = 400});
}

TEST(References, TwoEquallySickSidesAreNamed) {
  const std::string text = compared(0.2);
  EXPECT_TRUE(has(text, "RESULT: SAME  look at what is SLOWER THAN ITS MODEL")) << text;
  EXPECT_TRUE(has(text, "SLOWER THAN ITS MODEL: all 4 GPUs, on both sides: synthetic.")) << text;
}

TEST(References, HealthySidesAreNot) { EXPECT_FALSE(has(compared(0), "SLOWER THAN ITS MODEL")); }

// Half as fast, and the half is what that model has.
TEST(References, AnotherModelIsHeldAgainstItsOwn) {
  std::vector<LaunchFacts> before = side(false, 0), after = side(true, 0.5);
  for (LaunchFacts& facts : after)
    for (FactsOfGpu& gpu : facts.gpus)
      for (std::string& value : gpu.values)
        if (value == "NVIDIA H200") value = "NVIDIA H100";
  std::vector<LaunchFacts> both = before;
  both.insert(both.end(), after.begin(), after.end());
  const References known = read_references(references_json(both), "both");

  const Comparison comparison =
      compare_launches(std::move(before), std::move(after), {.references = known});

  EXPECT_EQ(comparison.below_reference, "");
  const SpeedFinding& first = comparison.speed.series.at(0);
  const Reference& of_new = known.at({.product = "NVIDIA H100",
                                      .of_case = comparison.pairing.cases.at(first.of_case),
                                      .metric = first.metric,
                                      .unit = first.unit});
  EXPECT_EQ(first.reference, short_number(of_new.p5) + " to " + short_number(of_new.p95));
}

TEST(References, AreThePercentilesOfAllGpusAndLaunches) {
  const References made = read_references(references_json(side(false, 0)), "healthy");
  const auto& [key, reference] = *made.begin();
  EXPECT_EQ(made.size(), 12U);
  EXPECT_EQ(key.product, "NVIDIA H200");
  EXPECT_EQ(reference.values, 20U);
  EXPECT_LT(reference.p5, reference.p50);
  EXPECT_LT(reference.p50, reference.p95);
}

TEST(References, OfTheVirtualDeviceAreRefused) {
  std::vector<LaunchFacts> launches = side(false, 0);
  launches[2].launch.is_virtual = true;
  EXPECT_THROW(references_json(launches), ReportError);
}

TEST(References, OfALaunchThatWasSlowedOnPurposeAreRefused) {
  std::vector<LaunchFacts> launches = side(false, 0);
  launches[2].slowed["gemm.local.speed"] = "3 %";
  EXPECT_THROW(references_json(launches), ReportError);
}

TEST(References, OfALaunchThatIsThereTwiceAreRefused) {
  std::vector<LaunchFacts> launches = side(false, 0);
  launches.push_back(launches[2]);
  EXPECT_THROW(references_json(launches), ReportError);
}

TEST(References, CountsAboveNoughtAreAsked) {
  const std::string good = references_json(side(false, 0));
  const std::size_t at = good.find("\"values\":20");
  ASSERT_NE(at, std::string::npos);
  for (const char* values : {"\"values\":-5", "\"values\":0", "\"values\":1.7"}) {
    std::string bad = good;
    bad.replace(at, std::string("\"values\":20").size(), values);
    EXPECT_THROW(read_references(bad, "x.json"), ReportError) << values;
  }
}

TEST(References, OneThatIsGivenTwiceIsRefused) {
  const std::string good = references_json(side(false, 0));
  const std::string one = good.substr(1, good.find('}'));
  EXPECT_THROW(read_references("[" + one + "," + one + "]", "x.json"), ReportError);
}

TEST(References, AnotherFileIsRefused) {
  EXPECT_THROW(read_references(R"([{"product": "NVIDIA H200"}])", "x.json"), ReportError);
  EXPECT_THROW(read_references("null", "x.json"), ReportError);
  EXPECT_THROW(read_references("{}", "x.json"), ReportError);
  EXPECT_THROW(read_references("CDF", "x.json"), ReportError);
}

TEST(References, TheProgramCarriesThoseOfH100AndH200) {
  const References& all = committed_references();
  for (const char* product : {"NVIDIA H100 80GB HBM3", "NVIDIA H200"}) {
    EXPECT_TRUE(all.contains(
        {.product = product, .of_case = "gemm.local.speed", .metric = "rate", .unit = "TFLOP/s"}))
        << product;
  }
}

}  // namespace
}  // namespace tidemark
