// What compare says of launches whose differences are known.
#include "reports/compare/comparison.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "reports/document/comparison/document.hpp"
#include "reports/render/show.hpp"
#include "reports/testing/synthetic_fleet.hpp"
#include "reports/testing/two_sides.hpp"

namespace tidemark {
namespace {

std::size_t count_of(const Comparison& made, SpeedVerdict verdict) {
  return made.speed.counts[static_cast<std::size_t>(verdict)];
}

/// Takes the cases from number `first` on away, as an older suite would.
void keep_cases(Report& report, std::uint32_t first) {
  report.cases.resize(first);
  std::erase_if(report.results, [&](const auto& row) { return row.case_id >= first; });
  std::erase_if(report.metrics,
                [&](const auto& row) { return row.result_id >= report.results.size(); });
}

TEST(Compare, TwoSidesThatOnlyDifferByChanceAreTheSame) {
  const Comparison made = held(side(false), side(true));
  EXPECT_EQ(headline_of(made), "SAME") << show_comparison(made, {});
  EXPECT_EQ(made.conformance.passed_in_both, 12U * 16U);
}

TEST(Compare, OneSlowCaseIsFoundAndPutDownToTheDriver) {
  const Comparison made = held(side(false), side(true, {.first_case = -0.05}));
  EXPECT_EQ(made.speed.series[0].verdict, SpeedVerdict::regressed);
  EXPECT_EQ(made.speed.counts[static_cast<std::size_t>(SpeedVerdict::regressed)], 1U);
  EXPECT_EQ(cause_text(made),
            "the driver 580.105.08 -> 590.44.01, or the boot: nothing else differs that can be the "
            "cause");
}

// Of a case 5 % slower and one new launch of it 40 % slower, the values that stand beside -5 % are
// those without that launch.
TEST(Compare, ValuesAreOfTheLaunchesThatTheChangeIsOf) {
  std::vector<Report> fresh = side(true, {.first_case = -0.05});
  for (MetricRow& metric : fresh[2].metrics)
    if (fresh[2].results[metric.result_id].case_id == 0) metric.median *= 0.6;
  const Comparison made = held(side(false), fresh);
  const SpeedFinding& first = made.speed.series[0];
  EXPECT_EQ(first.own.left_out, std::vector<std::size_t>{7});
  EXPECT_NEAR(std::log(first.fresh_value / first.base_value), first.in_all.effect, 1e-12);
}

TEST(Compare, AShiftOfAllCasesIsAFindingOfItsOwn) {
  const Comparison made = held(side(false), side(true, {.all_cases = -0.03}));
  EXPECT_EQ(made.speed.shared, SpeedVerdict::regressed);
  EXPECT_EQ(made.speed.counts[static_cast<std::size_t>(SpeedVerdict::regressed)], 0U);
  EXPECT_TRUE(findings_of(made).contains("regressed"));
}

TEST(Compare, OneSlowNodeIsOneLine) {
  const std::string text =
      show_comparison(held(side(false), side(true, {.first_node = -0.05})), {});
  // With two nodes the half that is slower and the half that is faster are told apart by nothing.
  EXPECT_TRUE(has(text, "node n000, all 8 GPUs")) << text;
}

TEST(Compare, AnotherVbiosTakesTheBlameFromTheDriver) {
  const Comparison made = held(side(false), side(true, {.first_case = -0.05, .vbios = true}));
  EXPECT_EQ(made.setup.cause, Cause::confounded);
  EXPECT_EQ(cause_text(made), "inconclusive, may also be: vbios");
  EXPECT_TRUE(findings_of(made).contains("inconclusive"));
  EXPECT_TRUE(findings_of(made).contains("regressed"));
}

TEST(Compare, AnAllowedConfounderDoesNotCount) {
  const Comparison made = held(side(false), side(true, {.vbios = true}), {.allowed = {"vbios"}});
  EXPECT_EQ(made.setup.cause, Cause::driver);
}

TEST(Compare, ATreeOfOtherKernelsIsAConfounder) {
  std::vector<Report> fresh = side(true);
  for (Report& report : fresh) {
    report.strings.emplace_back("kernels_tree");
    report.strings.emplace_back("abcd");
    const auto end = static_cast<std::uint32_t>(report.strings.size());
    report.provenance.push_back({.key = end - 2, .value = end - 1});
  }
  EXPECT_EQ(held(side(false), fresh).setup.cause, Cause::confounded);
}

TEST(Compare, AnotherGemmTableIsAConfounderAndItsFileIsNone) {
  std::vector<Report> base = side(false), fresh = side(true);
  for (Report& report : fresh) {
    report.strings.emplace_back("gemm_table.hash");
    report.strings.emplace_back("0123456789abcdef");
    report.strings.emplace_back("argument.1");
    report.strings.emplace_back("--gemm-table=t.json");
    const auto end = static_cast<std::uint32_t>(report.strings.size());
    report.provenance.push_back({.key = end - 4, .value = end - 3});
    report.provenance.push_back({.key = end - 2, .value = end - 1});
  }
  const Comparison made = held(base, fresh);
  EXPECT_EQ(cause_text(made), "nothing changed; what else differs may hide a change: gemm_table");
  EXPECT_TRUE(has(show_comparison(made, {.columns = 200}),
                  "confounder gemm_table: that of the build -> 0123456789abcdef"));
  EXPECT_NE(held(base, fresh, {.allowed = {"gemm_table"}}).setup.cause, Cause::confounded);
}

// What was slowed is a factor of its own, and may be allowed.
TEST(Compare, SharesOfSlowAreNoOtherArguments) {
  std::vector<Report> fresh = side(true);
  for (Report& report : fresh)
    for (const auto& [key, value] :
         std::vector<std::pair<const char*, const char*>>{{"argument.1", "--slow"},
                                                          {"argument.2", "a.rate=3%"},
                                                          {"argument.3", "b.rate=4%"},
                                                          {"argument.4", "--json"}}) {
      report.strings.emplace_back(key);
      report.strings.emplace_back(value);
      const auto end = static_cast<std::uint32_t>(report.strings.size());
      report.provenance.push_back({.key = end - 2, .value = end - 1});
    }
  EXPECT_FALSE(has(show_comparison(held(side(false), fresh), {.columns = 200}), "arguments"));
}

TEST(Compare, ACaseThatFailsInEveryNewLaunchIsANewFail) {
  std::vector<Report> fresh = side(true);
  for (Report& report : fresh) result_of(report, 2, 5).verdict = Verdict::crash;
  const Comparison made = held(side(false), fresh);
  ASSERT_EQ(made.conformance.groups.size(), 1U);
  EXPECT_EQ(made.conformance.groups[0].kind, ChangeKind::new_fail);
  EXPECT_EQ(made.conformance.groups[0].cases, std::vector<std::uint32_t>{2});
  EXPECT_EQ(made.conformance.groups[0].gpus, std::vector<std::uint32_t>{5});
  EXPECT_EQ(headline_of(made), "REGRESSION");
}

TEST(Compare, ACaseThatFailsInOneLaunchIsFlaky) {
  std::vector<Report> fresh = side(true);
  result_of(fresh[3], 2, 5).verdict = Verdict::fail;
  EXPECT_TRUE(findings_of(held(side(false), fresh)).contains("flaky"));
}

TEST(Compare, ACaseThatFailedOnlyBeforeIsFixed) {
  std::vector<Report> base = side(false);
  for (Report& report : base) result_of(report, 2, 5).verdict = Verdict::fail;
  const Comparison made = held(base, side(true));
  EXPECT_EQ(made.conformance.counts[static_cast<std::size_t>(ChangeKind::fixed)], 1U);
}

TEST(Compare, AFailureOnBothSidesIsNoChangeAndNoPass) {
  std::vector<Report> base = side(false), fresh = side(true);
  for (Report& report : base) result_of(report, 2, 5).verdict = Verdict::fail;
  for (Report& report : fresh) result_of(report, 2, 5).verdict = Verdict::fail;
  const Comparison made = held(base, fresh);
  EXPECT_EQ(made.conformance.groups[0].kind, ChangeKind::still_failing);
  EXPECT_EQ(made.conformance.passed_in_both, 12U * 16U - 1);
  EXPECT_EQ(action_text(made), "roll out, though 1 result fails on both sides");
}

TEST(Compare, WhereNothingPassedNothingIsTheSame) {
  for (const Verdict verdict : {Verdict::skip, Verdict::waived}) {
    std::vector<Report> base = side(false), fresh = side(true);
    for (std::vector<Report>* reports : {&base, &fresh})
      for (Report& report : *reports) {
        for (ResultRow& result : report.results) result.verdict = verdict;
        report.metrics.clear();
      }
    const Comparison made = held(base, fresh);
    EXPECT_EQ(headline_of(made), "MISSING");
    EXPECT_EQ(action_text(made), "look at why nothing passed");
    EXPECT_TRUE(has(show_comparison(made, {}), "NOTHING PASSED")) << show_comparison(made, {});
  }
}

TEST(Compare, WhatBothSidesSkipIsCounted) {
  std::vector<Report> base = side(false), fresh = side(true);
  for (std::vector<Report>* reports : {&base, &fresh})
    for (Report& report : *reports) result_of(report, 3, 2).verdict = Verdict::skip;
  EXPECT_EQ(results_text(held(base, fresh)),
            "results: 191 of 192 pass on both sides, 1 skipped on both");
}

TEST(Compare, AFailureThatBecomesAHangIsANewFail) {
  std::vector<Report> base = side(false), fresh = side(true);
  for (Report& report : base) result_of(report, 2, 5).verdict = Verdict::fail;
  for (Report& report : fresh) result_of(report, 2, 5).verdict = Verdict::hang;
  EXPECT_EQ(held(base, fresh).conformance.groups[0].kind, ChangeKind::new_fail);
  for (Report& report : base) result_of(report, 2, 5).verdict = Verdict::crash;
  EXPECT_EQ(held(base, fresh).conformance.groups[0].kind, ChangeKind::still_failing);
}

TEST(Compare, ACaseThatIsGoneIsMissingOnAllGpus) {
  std::vector<Report> fresh = side(true);
  for (Report& report : fresh) keep_cases(report, 11);
  const Comparison made = held(side(false), fresh);
  EXPECT_EQ(made.conformance.counts[static_cast<std::size_t>(ChangeKind::missing_in_new)], 16U);
  EXPECT_TRUE(
      has(show_comparison(made, {}), "MISSING IN NEW synthetic.case_0011  on all 16 GPUs\n"));
}

void set_pci(std::vector<Report>& reports, const std::string& address) {
  for (Report& report : reports) {
    report.strings.push_back(address);
    report.gpus[4].pci = static_cast<std::uint32_t>(report.strings.size() - 1);
  }
}

void exchange(std::vector<Report>& base) {
  for (Report& report : base) report.gpus[4].uuid = FixedText<48>::of("GPU-another");
}

TEST(Compare, AGpuThatWasExchangedIsLeftOut) {
  std::vector<Report> base = side(false), fresh = side(true);
  exchange(base);
  set_pci(base, "0000:1b:00.0");
  set_pci(fresh, "0000:1b:00.0");
  const Comparison made = held(base, fresh);
  EXPECT_EQ(findings_of(made), std::set<std::string>{}) << show_comparison(made, {});
  EXPECT_EQ(made.conformance.left_out, 24U);
  EXPECT_EQ(made.setup.cause, Cause::confounded);
  EXPECT_TRUE(has(show_comparison(made, {}, "csv"), ",left_out,"));
}

TEST(Compare, AGpuOfTheSameNumberElsewhereIsNotInItsPlace) {
  std::vector<Report> base = side(false), fresh = side(true);
  exchange(base);
  EXPECT_TRUE(findings_of(held(base, fresh)).contains("missing_in_new"));
  set_pci(base, "0000:1b:00.0");
  set_pci(fresh, "0000:2c:00.0");
  EXPECT_TRUE(findings_of(held(base, fresh)).contains("missing_in_new"));
}

TEST(Compare, AnExchangedGpuThatFailsIsANewFail) {
  std::vector<Report> base = side(false), fresh = side(true);
  exchange(base);
  for (Report& report : fresh) result_of(report, 2, 4).verdict = Verdict::fail;
  EXPECT_TRUE(findings_of(held(base, fresh)).contains("new_fail"));
}

TEST(Compare, AGpuWithNoneInItsPlaceIsMissing) {
  std::vector<Report> base = side(false), fresh = side(true);
  exchange(base);
  for (Report& report : fresh) report.gpus[4].uuid = {};
  EXPECT_TRUE(findings_of(held(base, fresh)).contains("missing_in_new"));
}

TEST(Compare, WhereAllGpusWereExchangedAllIsMissing) {
  std::vector<Report> base = side(false);
  for (Report& report : base)
    for (GpuRow& gpu : report.gpus)
      gpu.uuid = FixedText<48>::of("GPU-other-" + std::to_string(gpu.gpu_id));
  const Comparison made = held(base, side(true));
  EXPECT_TRUE(findings_of(made).contains("missing_in_new"));
  EXPECT_EQ(made.conformance.left_out, 0U);
}

/// As provenance.
void set_suite(std::vector<Report>& reports, const std::string& tree) {
  for (Report& report : reports) {
    report.strings.emplace_back("suite_tree");
    report.strings.push_back(tree);
    const auto end = static_cast<std::uint32_t>(report.strings.size());
    report.provenance.push_back({.key = end - 2, .value = end - 1});
  }
}

TEST(Compare, ACaseOfANewSuiteIsLeftOut) {
  std::vector<Report> base = side(false), fresh = side(true);
  for (Report& report : base) keep_cases(report, 11);
  set_suite(base, "abcd");
  set_suite(fresh, "efgh");
  const Comparison made = held(base, fresh, {.allowed = {"suite_tree"}});
  EXPECT_EQ(findings_of(made), std::set<std::string>{}) << show_comparison(made, {});
  EXPECT_TRUE(has(show_comparison(made, {}),
                  "\nLEFT OUT: new in the suite of the new side: synthetic.case_0011"));
}

TEST(Compare, ACaseThatTheBaseMayNotHaveSelectedIsMissing) {
  std::vector<Report> base = side(false), fresh = side(true);
  for (Report& report : base) keep_cases(report, 11);
  EXPECT_TRUE(findings_of(held(base, fresh)).contains("missing_in_base"));
  set_suite(fresh, "efgh");
  EXPECT_TRUE(findings_of(held(base, fresh)).contains("missing_in_base"));
  set_suite(base, "abcd");
  for (Report& report : base) report.launch.level = "quick";
  EXPECT_TRUE(findings_of(held(base, fresh)).contains("missing_in_base"));
}

TEST(Compare, AFailureWhoseGpuIsLostLaterIsNewAndMissing) {
  std::vector<Report> base = side(false), fresh = side(true);
  for (Report& report : base) result_of(report, 2, 5).verdict = Verdict::fail;
  for (Report& report : fresh) result_of(report, 2, 5).verdict = Verdict::gpu_lost;
  result_of(fresh[0], 2, 5).verdict = Verdict::fail;
  EXPECT_TRUE(findings_of(held(base, fresh)).contains("new_fail"));
  for (std::size_t i = 1; i < 5; ++i) result_of(fresh[i], 2, 5).verdict = Verdict::not_run;
  EXPECT_EQ(findings_of(held(base, fresh)),
            (std::set<std::string>{"missing_in_new", "still_failing"}));
}

TEST(Compare, ANodeThatIsGoneIsOneLine) {
  std::vector<Report> fresh = side(true);
  for (Report& report : fresh) {
    for (std::uint32_t gpu = 8; gpu < 16; ++gpu) {
      report.gpus[gpu].reported = 0;
      for (std::uint32_t which = 0; which < 12; ++which) {
        result_of(report, which, gpu).verdict = Verdict::not_run;
      }
    }
  }
  const Comparison made = held(side(false), fresh);
  EXPECT_EQ(made.conformance.groups.size(), 1U);
  EXPECT_TRUE(
      has(show_comparison(made, {}), "MISSING IN NEW all 12 cases  on node n001, all 8 GPUs\n"));
}

TEST(Compare, AnIncompleteReportIsAFinding) {
  std::vector<Report> fresh = side(true);
  fresh[0].launch.complete = false;
  EXPECT_TRUE(findings_of(held(side(false), fresh)).contains("incomplete"));
}

TEST(Compare, LostJournalLinesAreAFindingWhateverTheReportSaysOfItself) {
  std::vector<Report> fresh = side(true);
  fresh[0].launch.damaged_lines = 2;
  EXPECT_TRUE(findings_of(held(side(false), fresh)).contains("incomplete"));
}

TEST(Compare, TensorMapsThatChangeUnderOneSeedAreAChange) {
  std::vector<Report> base = side(false), fresh = side(true);
  for (Report& report : base) result_of(report, 1, 0).descriptor_digest = 7;
  for (Report& report : fresh) result_of(report, 1, 0).descriptor_digest = 8;
  EXPECT_TRUE(findings_of(held(base, fresh)).contains("descriptors_changed"));
}

TEST(Compare, TensorMapsOfAnotherSeedAreNotJudged) {
  std::vector<Report> base = side(false, {}, 1), fresh = side(true, {}, 1);
  result_of(base[0], 1, 0).descriptor_digest = 7;
  result_of(fresh[0], 1, 0).descriptor_digest = 8;
  fresh[0].launch.seed = 99;
  const Comparison made = held(base, fresh);
  EXPECT_FALSE(findings_of(made).contains("descriptors_changed"));
  EXPECT_EQ(made.conformance.descriptors_unjudged, 1U);
}

TEST(Compare, ATimeThatIsNoughtEverywhereIsNotMissed) {
  std::vector<Report> base = side(false), fresh = side(true);
  for (std::vector<Report>* reports : {&base, &fresh}) {
    for (Report& report : *reports) {
      for (std::uint32_t gpu = 0; gpu < 16; ++gpu) {
        report.metrics[gpu].median = 0;
        report.metrics[gpu].higher_is_better = 0;
      }
    }
  }
  const Comparison made = held(base, fresh);
  EXPECT_EQ(headline_of(made), "SAME");
  EXPECT_EQ(made.speed.series.size(), 11U);
  EXPECT_FALSE(has(show_comparison(made, {}), "NOT COMPARED"));
}

TEST(Compare, WhatAllCasesShareIsUntestedWithOneLaunchASide) {
  const std::string text =
      show_comparison(held(side(false, {}, 1), side(true, {.all_cases = -0.02}, 1)), {});
  EXPECT_TRUE(has(text, "by what all cases share: -1.9")) << text;
  EXPECT_TRUE(has(text, " % (untested)\n")) << text;
}

TEST(Compare, AChangeBeyondAllReasonIsStillANumberToRead) {
  EXPECT_EQ(percent(-0.0202), "-2.00 %");
  EXPECT_EQ(percent(700), "1.01e+306 %");
}

TEST(Compare, MetricsThatCannotBeComparedForOneReasonAreOneLine) {
  const std::string text = show_comparison(
      held(side(false), side(true), {.pair_by = PairBy::uuid, .speed = {.floor = 0.01}}), {});
  EXPECT_FALSE(has(text, "NOT COMPARED")) << text;
  std::vector<Report> others = side(true);
  for (Report& report : others) {
    for (GpuRow& gpu : report.gpus) gpu.uuid = FixedText<48>::of(fmt::format("X{}", gpu.gpu_id));
  }
  EXPECT_TRUE(has(show_comparison(held(side(false), others), {.columns = 400}),
                  "\nNOT COMPARED synthetic.case_0000/rate, synthetic.case_0001/rate, "
                  "synthetic.case_0002/rate, synthetic.case_0003/rate, and 8 more metrics; no GPU "
                  "has it in every launch of both sides\n"));
}

TEST(Compare, AReasonThatSeveralMetricsShareIsSaidOnce) {
  SyntheticFleet noisy = kFleet;
  noisy.noise.launch = 0.02;
  const std::string text = show_comparison(
      held({synthetic_launch(noisy, 0, false, {})}, {synthetic_launch(noisy, 0, true, {})}), {});
  const std::string why = "fewer than 3 launches a side";
  EXPECT_TRUE(has(text, "10 of these: " + why)) << text;
  EXPECT_EQ(text.find(why), text.rfind(why)) << text;
}

TEST(Compare, TheFirstLinesCountWhatBecameOfTheResults) {
  std::vector<Report> fresh = side(true);
  for (Report& report : fresh) {
    result_of(report, 0, 0).verdict = Verdict::fail;
    result_of(report, 1, 0).verdict = Verdict::not_run;
    result_of(report, 1, 1).verdict = Verdict::not_run;
  }
  EXPECT_EQ(results_text(held(side(false), fresh)),
            "results: 189 of 192 pass on both sides; 1 new fail, 2 missing in new");
}

TEST(Compare, OneLaunchASideBelievesOnlyThreeFloors) {
  const Comparison small = held(side(false, {}, 1), side(true, {.first_case = -0.02}, 1));
  EXPECT_EQ(small.speed.series[0].verdict, SpeedVerdict::ambiguous);
  const Comparison large = held(side(false, {}, 1), side(true, {.first_case = -0.10}, 1));
  EXPECT_EQ(large.speed.series[0].verdict, SpeedVerdict::regressed);
}

TEST(Compare, AGpuWithoutANumberInOneLaunchIsLeftOutOfAll) {
  std::vector<Report> fresh = side(true);
  result_of(fresh[2], 0, 3).verdict = Verdict::fail;
  const Comparison made = held(side(false), fresh);
  EXPECT_EQ(made.speed.series[0].gpus, 15U);
  EXPECT_EQ(made.speed.series[0].gpus_left_out, 1U);
}

TEST(Compare, RefusesAVirtualLaunchBesideARealOne) {
  std::vector<Report> fresh = side(true);
  fresh[0].launch.is_virtual = true;
  EXPECT_THROW(held(side(false), fresh), ReportError);
}

TEST(Compare, RefusesTheSameLaunchOnBothSides) {
  EXPECT_THROW(held(side(false), side(false)), ReportError);
}

TEST(Compare, ExplainsACaseAndRefusesOneThatIsNotThere) {
  const Comparison made = held(side(false), side(true, {.first_case = -0.05}));
  EXPECT_TRUE(has(explain_case(made, "synthetic.case_0000", 100), "rate: regressed"));
  EXPECT_THROW(explain_case(made, "synthetic.case", 100), ReportError);
}

/// 24 rates and 8 counts of cycles that differ by 0.05 % from launch to launch: too much to be
/// exact.
std::vector<Report> rates_and_counts(bool fresh, double rates) {
  std::vector<Report> made;
  for (std::uint32_t i = 0; i < 5; ++i) {
    made.push_back(synthetic_launch(
        {.gpus = 4, .cases = 32, .seed = 3, .noise = {.launch = 0.001, .odd_launches = 0}}, i,
        fresh, {}));
    for (std::uint32_t which = 0; which < 24; ++which) {
      for (std::uint32_t gpu = 0; gpu < 4; ++gpu) {
        made.back().metrics[which * 4 + gpu].median *= std::exp(rates);
      }
    }
  }
  return made;
}

TEST(Compare, WhatDidNotChangeIsNotRegressedWhereAllElseIsFaster) {
  const Comparison made = held(rates_and_counts(false, 0), rates_and_counts(true, 0.03));
  EXPECT_EQ(count_of(made, SpeedVerdict::regressed), 0U) << show_comparison(made, {});
}

TEST(Compare, WhatIsSlowerWithAllTheOthersIsNotTheSame) {
  const Comparison made = held(rates_and_counts(false, 0), rates_and_counts(true, -0.03));
  EXPECT_EQ(count_of(made, SpeedVerdict::with_all), 24U) << show_comparison(made, {});
}

/// The new side, with these GPUs of the first `cases` cases faster (or below 0 slower) by `change`.
std::vector<Report> some_gpus(std::uint32_t gpus, std::uint32_t cases, double change) {
  std::vector<Report> made = side(true);
  for (Report& report : made) {
    for (std::uint32_t which = 0; which < cases; ++which) {
      for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) {
        report.metrics[which * 16 + gpu].median *= std::exp(change);
      }
    }
  }
  return made;
}

TEST(Compare, GpusThatBecameLessSlowThanTheOthersAreNotFaster) {
  std::vector<Report> fresh = some_gpus(15, 12, -0.05);
  for (Report& report : fresh) {
    for (MetricRow& metric : report.metrics) metric.median *= std::exp(-0.05);
  }
  const Comparison made = held(side(false), fresh);
  EXPECT_FALSE(findings_of(made).contains("improved")) << show_comparison(made, {});
  EXPECT_TRUE(has(show_comparison(made, {.columns = 400}), "CHANGED LESS than the other GPUs"))
      << show_comparison(made, {.columns = 400});
}

TEST(Compare, AGpuThatIsALittleSlowerInAllMetricsIsOneFindingAndNoOtherIsNamed) {
  SyntheticFleet fleet = {.gpus = 8, .cases = 100, .seed = 11};
  fleet.noise.apart = true;
  const Comparison made =
      held(launches_of(fleet, false), launches_of(fleet, true, {.first_gpu = -0.02}));
  ASSERT_EQ(made.speed.gpus.size(), 1U);
  EXPECT_EQ(made.speed.gpus[0].of_case, kAllMetrics);
  EXPECT_EQ(made.speed.gpus[0].gpus, std::vector<std::uint32_t>{0});
}

TEST(Compare, AGpuThatIsSlowerThanItsModelInMostNewLaunchesIsAnOutlier) {
  const Comparison made = held(side(false, {.first_gpu = -0.2}), side(true, {.first_gpu = -0.2}));
  EXPECT_EQ(made.outliers, std::vector<std::uint32_t>{0});
  EXPECT_TRUE(findings_of(made).contains("outlier"));
  EXPECT_FALSE(findings_of(held(side(false), side(true))).contains("outlier"));
}

TEST(Compare, TheChangeOfAGpuIsSaidInAll) {
  const Comparison made = held(side(false), some_gpus(8, 12, -0.05));
  ASSERT_FALSE(made.speed.gpus.empty());
  EXPECT_NEAR(made.speed.gpus[0].range().first, -0.05, 0.005) << show_comparison(made, {});
}

TEST(Compare, ACountThatGrowsIsSaidToGrow) {
  const SyntheticFleet fleet = {.gpus = 4, .cases = 40, .seed = 3, .noise = {.counts = 0.5}};
  std::vector<Report> base, fresh;
  for (std::uint32_t i = 0; i < 5; ++i) {
    base.push_back(synthetic_launch(fleet, i, false, {}));
    fresh.push_back(synthetic_launch(fleet, i, true, {}));
    for (std::uint32_t gpu = 0; gpu < 4; ++gpu) fresh.back().metrics[39 * 4 + gpu].median *= 1.062;
  }
  const std::string text = show_comparison(held(base, fresh), {.columns = 400});
  EXPECT_TRUE(has(text, "own +6.20 %")) << text;
  EXPECT_TRUE(has(text, "+6.20 % in all, slower")) << text;
}

TEST(Compare, MetricsThatRiseOrFallWhileTheSidesAlternateAreNoConfounder) {
  const SyntheticFleet fleet = {.cases = 100, .noise = {.drift = 0.002}};
  const Comparison made = held(launches_of(fleet, false), launches_of(fleet, true));
  EXPECT_EQ(made.setup.cause, Cause::driver);
}

TEST(Compare, ADriftThatEachMetricHidesIsWarnedOfWhereOneSideRanBehindTheOther) {
  const SyntheticFleet fleet = {
      .cases = 100, .seed = 4, .noise = {.drift = 5e-4, .in_sequence = true}};
  const Comparison made = held(launches_of(fleet, false), launches_of(fleet, true));
  EXPECT_TRUE(made.speed.drift.seen());
  EXPECT_TRUE(has(show_comparison(made, {}), "\nDRIFT: "));
  EXPECT_EQ(made.setup.cause, Cause::confounded);
}

/// Gives each metric 100 samples around its median; `slow` of them are 20 % slower.
void add_samples(Report& report, std::size_t slow) {
  for (std::uint32_t which = 0; which < report.metrics.size(); ++which) {
    MetricRow& metric = report.metrics[which];
    metric.n = 100;
    metric.first_sample = report.samples.size();
    for (std::uint32_t i = 0; i < 100; ++i) {
      const double times = i < slow && metric.result_id < 16 ? 0.8 : 1 + 0.0001 * (i % 7);
      report.samples.push_back({.metric_id = which, .value = metric.median * times});
    }
  }
}

TEST(Compare, SlowSamplesAreSeenThoughALaunchOfTheBaseFailed) {
  std::vector<Report> base = side(false), fresh = side(true);
  for (Report& report : base) add_samples(report, 0);
  for (Report& report : fresh) add_samples(report, 45);
  for (std::uint32_t gpu = 0; gpu < 16; ++gpu) result_of(base[1], 0, gpu).verdict = Verdict::fail;
  const Comparison made = held(base, fresh);
  EXPECT_EQ(made.speed.series[0].verdict, SpeedVerdict::regressed) << show_comparison(made, {});
}

TEST(Compare, SlowSamplesOfOneLaunchASideAreNoRegression) {
  std::vector<Report> base = side(false, {}, 1), fresh = side(true, {}, 1);
  add_samples(base[0], 0);
  add_samples(fresh[0], 45);
  EXPECT_EQ(count_of(held(base, fresh), SpeedVerdict::regressed), 0U);
}

TEST(Compare, AChangeOfNothingHasOneSign) {
  EXPECT_EQ(signed_percent(-1e-9), "+0.00 %");
  EXPECT_EQ(signed_percent(0.0202), "+2.04 %");
  EXPECT_EQ(signed_percent(-0.0202), "-2.00 %");
}

TEST(Compare, AFewSlowSamplesAreNoRegression) {
  std::vector<Report> base = side(false), fresh = side(true);
  for (Report& report : base) add_samples(report, 0);
  for (Report& report : fresh) add_samples(report, 5);
  EXPECT_EQ(headline_of(held(base, fresh)), "SAME");
}

TEST(Compare, WhatIsAmbiguousSaysHowManyLaunchesWouldDecide) {
  SyntheticFleet noisy = kFleet;
  noisy.noise.launch = 0.025;
  std::vector<Report> base, fresh;
  for (std::uint32_t i = 0; i < 5; ++i) {
    base.push_back(synthetic_launch(noisy, i, false, {}));
    fresh.push_back(synthetic_launch(noisy, i, true, {}));
  }
  const Comparison made = held(base, fresh);
  ASSERT_GT(count_of(made, SpeedVerdict::ambiguous), 0U) << show_comparison(made, {});
  EXPECT_TRUE(has(show_comparison(made, {}), "\nto decide: ")) << show_comparison(made, {});
  const auto asks = [](const SpeedFinding& finding) { return finding.launches_needed > 5; };
  EXPECT_GT(std::ranges::count_if(made.speed.series, asks), 0);
}

}  // namespace
}  // namespace tidemark
