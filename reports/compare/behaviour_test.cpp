// When something else that a behaviour case noted is a change, and when it says nothing.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "reports/compare/comparison.hpp"
#include "reports/render/show.hpp"
#include "reports/testing/said.hpp"
#include "reports/testing/synthetic_fleet.hpp"

namespace tidemark {
namespace {

/// One launch for each text, in which the case notes it on each GPU.
std::vector<LaunchFacts> that_noted(const std::vector<std::string>& texts, bool fresh,
                                    std::uint32_t gpus = 1, Verdict verdict = Verdict::pass,
                                    const std::string& suite = "abcd") {
  std::vector<LaunchFacts> made;
  for (std::uint32_t launch = 0; launch < texts.size(); ++launch) {
    Report report = synthetic_launch({.gpus = gpus, .cases = 2, .seed = 3}, launch, fresh, {});
    report.cases[0].name = FixedText<128>::of("behaviour.example");
    report.strings.push_back(texts[launch]);
    for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) {
      report.results[gpu].notes = static_cast<std::uint32_t>(report.strings.size() - 1);
      report.results[gpu].verdict = verdict;
    }
    report.strings.insert(report.strings.end(), {"suite_tree", suite});
    const auto end = static_cast<std::uint32_t>(report.strings.size());
    report.provenance.push_back({.key = end - 2, .value = end - 1});
    made.push_back(facts_of(report, report.launch.run_id));
  }
  return made;
}

bool is_changed(const Comparison& comparison) {
  return findings_of(comparison).contains("behaviour_changed");
}

TEST(Behaviour, ThatWasTheSameInEachLaunchAndIsAnotherNowIsAChange) {
  EXPECT_TRUE(is_changed(
      compare_launches(that_noted({"x", "x"}, false), that_noted({"y", "y"}, true), {})));
}

TEST(Behaviour, ThatIsAnotherInOneLaunchOfSeveralIsAChange) {
  EXPECT_TRUE(is_changed(
      compare_launches(that_noted({"x", "x"}, false), that_noted({"x", "y"}, true), {})));
}

// A strict launch passes so where a waiver names the case, and under a policy that is a pass.
TEST(Behaviour, OfAnUnexpectedPassIsAChangeToo) {
  std::vector<LaunchFacts> fresh = that_noted({"y", "y"}, true, 1, Verdict::unexpected_pass);
  EXPECT_TRUE(is_changed(compare_launches(that_noted({"x", "x"}, false), std::move(fresh),
                                          {.waivers = std::vector<Waiver>{}})));
}

TEST(Behaviour, ThatStaysTheSameIsNone) {
  const Comparison same =
      compare_launches(that_noted({"x", "x"}, false), that_noted({"x", "x"}, true), {});
  EXPECT_FALSE(is_changed(same));
  EXPECT_TRUE(same.conformance.behaviours_unjudged.empty());
}

TEST(Behaviour, ThatDiffersFromLaunchToLaunchAnywayIsNotJudgedAndNamed) {
  const Comparison varies =
      compare_launches(that_noted({"x", "y"}, false), that_noted({"z", "z"}, true), {});
  EXPECT_FALSE(is_changed(varies));
  EXPECT_TRUE(has(show_comparison(varies, {}), "note: behaviour.example noted something else"));
  EXPECT_EQ(nlohmann::json::parse(show_comparison(varies, {}, "json"))["behaviours_unjudged"],
            nlohmann::json::array({"behaviour.example"}));
}

TEST(Behaviour, OfAnotherSuiteIsNotJudged) {
  const Comparison other = compare_launches(
      that_noted({"x", "x"}, false), that_noted({"y", "y"}, true, 1, Verdict::pass, "efgh"), {});
  EXPECT_FALSE(is_changed(other));
  EXPECT_EQ(other.conformance.behaviours_unjudged.size(), 1U);
}

TEST(Behaviour, OfOneLaunchIsJudgedWhereAllGpusAgree) {
  EXPECT_TRUE(
      is_changed(compare_launches(that_noted({"x"}, false, 2), that_noted({"y"}, true, 2), {})));
}

TEST(Behaviour, OfOneLaunchOfOneGpuIsNotJudged) {
  const Comparison one = compare_launches(that_noted({"x"}, false), that_noted({"y"}, true), {});
  EXPECT_FALSE(is_changed(one));
  EXPECT_EQ(one.conformance.behaviours_unjudged.size(), 1U);
}

}  // namespace
}  // namespace tidemark
