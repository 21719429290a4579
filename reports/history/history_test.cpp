// What a history says of launches that are known.
#include "reports/history/history.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "reports/testing/example_nights.hpp"
#include "reports/testing/said.hpp"
#include "reports/testing/synthetic_fleet.hpp"

namespace tidemark {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

const SetupChange* factor_of(const std::vector<SetupChange>& setup, std::string_view name) {
  for (const SetupChange& change : setup) {
    if (change.factor == name) return &change;
  }
  return nullptr;
}

TEST(History, AStepOfAllGpusIsOneChangeWithTheDriverBesideIt) {
  const History made = history_of(step_chronicle(20, 12, 0.95), {});
  ASSERT_EQ(made.changes.size(), 1U);
  EXPECT_EQ(made.changes[0].gpu, kNoRow);
  EXPECT_EQ(made.changes[0].before, 11U);
  EXPECT_EQ(made.changes[0].after, 12U);
  EXPECT_NEAR(std::expm1(made.changes[0].step), -0.05, 0.003);
  EXPECT_NEAR(made.changes[0].from, 600, 2);
  EXPECT_NEAR(made.changes[0].to, 570, 2);
  EXPECT_TRUE(made.changes[0].is_worse(made.metrics[0].key));
  ASSERT_EQ(made.events.size(), 1U);
  ASSERT_EQ(made.events[0].setup.size(), 1U);
  EXPECT_EQ(made.events[0].setup[0].factor, "driver");
  EXPECT_EQ(made.events[0].setup[0].before, "580.1");
  EXPECT_EQ(made.events[0].setup[0].after, "590.1");
}

/// Twelve nights of five launches; each night moves all of its launches alike.
Chronicle nights_of_five(double step_in_last_three) {
  Chronicle all;
  for (std::uint32_t i = 0; i < 60; ++i) {
    const std::uint32_t number = i / 5;
    const double night_effect = (number * 7 % 5) * 0.006;
    const double step = number >= 9 ? step_in_last_three : 0;
    LaunchFacts facts = night(i, {600 * (1 + night_effect + step) + i % 2});
    facts.launch.series_id = "night-" + std::to_string(number);
    record_launch(all, facts);
  }
  return all;
}

TEST(History, ANightOutsideAllBeforeIsNoChangeAndNamed) {
  const History made = history_of(step_chronicle(20, 18, 0.7), {});
  EXPECT_TRUE(made.changes.empty());
  ASSERT_EQ(made.newest.size(), 1U);
  EXPECT_EQ(made.newest[0].gpu, kNoRow);
  EXPECT_EQ(made.newest[0].after, 19U);
  EXPECT_EQ(made.newest[0].nights, 18U);
  EXPECT_NEAR(std::expm1(made.newest[0].step), -0.3, 0.003);
  EXPECT_NEAR(made.newest[0].to, 420, 3);
}

TEST(History, ANightWithinThoseBeforeIsNotNamed) {
  EXPECT_TRUE(history_of(step_chronicle(20, 20, 1), {}).newest.empty());
  // Three nights are a level.
  EXPECT_TRUE(history_of(step_chronicle(20, 17, 0.7), {}).newest.empty());
}

TEST(History, ANightThatOneGpuSpentOutsideNamesThatGpu) {
  Chronicle all;
  for (std::uint32_t i = 0; i < 12; ++i) {
    const double level = 600 + 0.2 * wobble(i);
    record_launch(all, night(i, {level, level, level * (i < 11 ? 1 : 0.7), level}));
  }
  const History made = history_of(std::move(all), {});
  ASSERT_EQ(made.newest.size(), 1U);
  EXPECT_EQ(made.chronicle.gpus[made.newest[0].gpu].key, "GPU-2");
}

/// A night of one GPU, with seven metrics that never move.
LaunchFacts night_with_counts(std::uint32_t number, double rate) {
  LaunchFacts facts = night(number, {rate});
  for (std::uint32_t of_case = 1; of_case < 8; ++of_case) {
    facts.cases.push_back(fmt::format("gemm.local.case_{}", of_case));
    facts.over_all_gpus.push_back(false);
    facts.series.push_back(facts.series[0]);
    facts.series.back().of_case = of_case;
    facts.series.back().medians = {0.7 * of_case};
  }
  facts.verdicts.assign(8, Verdict::pass);
  facts.descriptors.assign(8, 0);
  facts.rows.assign(8, 10);
  return facts;
}

TEST(History, SeriesThatNeverMoveDoNotHideTheStepOfAnother) {
  Chronicle all;
  for (std::uint32_t i = 0; i < 20; ++i) {
    record_launch(all, night_with_counts(i, (600 + 6 * wobble(i)) * (i < 10 ? 1 : 0.95)));
  }
  const History made = history_of(std::move(all), {});
  ASSERT_EQ(made.changes.size(), 1U);
  EXPECT_EQ(made.changes[0].after, 10U);
}

TEST(History, NoiseThatKeepsNineTenthsOfTheNightBeforeIsNoChangeAmongSeriesThatNeverMove) {
  Chronicle all;
  double kept = 0;
  for (std::uint32_t i = 0; i < 60; ++i) {
    kept = 0.9 * kept + 0.01 * wobble(i);
    record_launch(all, night_with_counts(i, 600 * std::exp(kept)));
  }
  EXPECT_TRUE(history_of(std::move(all), {}).changes.empty());
}

TEST(History, LaunchesOfOneNightAreOnePoint) {
  EXPECT_TRUE(history_of(nights_of_five(0), {}).changes.empty());
}

TEST(History, AStepBetweenTwoNightsIsToldBetweenTheLastAndTheFirstLaunchOfThem) {
  const History made = history_of(nights_of_five(-0.2), {});
  ASSERT_EQ(made.changes.size(), 1U);
  EXPECT_EQ(made.changes[0].before, 44U);
  EXPECT_EQ(made.changes[0].after, 45U);
}

TEST(History, LaunchesCountInTheOrderOfTheirTimeNotOfTheirFiles) {
  Chronicle all;
  for (const std::uint32_t i : {9U, 3U, 0U, 7U, 1U, 8U, 2U, 6U, 4U, 5U}) {
    record_launch(all, night(i, {i < 5 ? 600.0 + i % 2 : 500.0 + i % 2}));
  }
  const History made = history_of(std::move(all), {});
  EXPECT_EQ(made.chronicle.launches[3].path, "night-3.h5");
  ASSERT_EQ(made.changes.size(), 1U);
  EXPECT_EQ(made.changes[0].after, 5U);
}

TEST(History, OneGpuThatFallsBehindIsToldAloneAndApartFromTheOthers) {
  Chronicle all;
  for (std::uint32_t i = 0; i < 20; ++i) {
    const double level = 600 + 5 * wobble(i);  // all GPUs move together
    record_launch(all, night(i, {level, level, level * (i < 10 ? 1 : 0.93), level, level}));
  }
  const History made = history_of(std::move(all), {});
  ASSERT_EQ(made.changes.size(), 1U);
  EXPECT_EQ(made.chronicle.gpus[made.changes[0].gpu].key, "GPU-2");
  EXPECT_TRUE(made.changes[0].apart);
  EXPECT_EQ(made.changes[0].after, 10U);
  EXPECT_NEAR(std::expm1(made.changes[0].step), -0.07, 0.002);
  EXPECT_NEAR(made.changes[0].to, 558, 8);
}

TEST(History, WhichGpusALaunchHadDoesNotMoveItsLevel) {
  Chronicle all;
  for (std::uint32_t i = 0; i < 20; ++i) {
    const double level = 600 + wobble(i);
    // The two fast GPUs leave in the second half.
    record_launch(all, i < 10 ? night(i, {level, level + 1, level + 2, 1.2 * level, 1.2 * level})
                              : night(i, {level, level + 1, level + 2}));
  }
  const History made = history_of(std::move(all), {});
  EXPECT_TRUE(made.changes.empty());
  EXPECT_EQ(made.metrics[0].judged, Judged::steady);
}

TEST(History, LaunchesOfOtherLevelsAndOfTheVirtualDeviceHaveSeriesOfTheirOwn) {
  Chronicle all;
  for (std::uint32_t i = 0; i < 24; ++i) {
    LaunchFacts facts = night(i, {i % 3 == 0 ? 600.0 : i % 3 == 1 ? 300.0 : 5.0});
    if (i % 3 == 1) facts.launch.level = "quick";
    if (i % 3 == 2) facts.launch.is_virtual = true;
    record_launch(all, facts);
  }
  const History made = history_of(std::move(all), {});
  EXPECT_EQ(made.metrics.size(), 3U);
  EXPECT_TRUE(made.changes.empty());
}

TEST(History, AMetricOfAllGpusHasASeriesANumberOfGpus) {
  Chronicle all;
  for (std::uint32_t i = 0; i < 12; ++i) {
    LaunchFacts facts = i < 6 ? night(i, {600, 600}) : night(i, {900, 900, 900, 900});
    facts.over_all_gpus = {true};
    record_launch(all, facts);
  }
  const History made = history_of(std::move(all), {});
  ASSERT_EQ(made.metrics.size(), 2U);
  EXPECT_EQ(made.metrics[0].key.gpus + made.metrics[1].key.gpus, 6U);
  EXPECT_TRUE(made.changes.empty());
}

TEST(History, FiveLaunchesAreTooShortASeries) {
  const History made = history_of(step_chronicle(5, 3, 0.5), {});
  EXPECT_EQ(made.metrics[0].judged, Judged::too_short);
  EXPECT_TRUE(made.changes.empty());
}

TEST(History, NumbersThatAreNoneLeaveTheirGpuOut) {
  Chronicle all;
  for (std::uint32_t i = 0; i < 8; ++i) {
    record_launch(all, night(i, {kNaN, -3.0, 1e300, 600.0}));
  }
  const History made = history_of(std::move(all), {});
  const MetricLevels levels = levels_of(made.chronicle, *made.metrics[0].values);
  ASSERT_EQ(levels.gpus.size(), 1U);
  EXPECT_EQ(made.chronicle.gpus[levels.gpus[0]].key, "GPU-3");
}

TEST(History, AStepAtAReleaseHasItsName) {
  const History made = history_of(step_chronicle(20, 12, 0.95), {});
  ASSERT_EQ(made.releases.size(), 1U);
  EXPECT_EQ(made.releases[0].before, 11U);
  EXPECT_EQ(made.releases[0].after, 12U);
  ASSERT_EQ(made.events.size(), 1U);
  ASSERT_EQ(releases_in(made.events[0].setup).size(), 1U);
  EXPECT_EQ(releases_in(made.events[0].setup)[0].factor, "driver");
}

TEST(History, AStepBesideNoReleaseHasNone) {
  Chronicle all;
  for (std::uint32_t i = 0; i < 20; ++i) {
    LaunchFacts facts = night(i, {(600 + 0.2 * wobble(i)) * (i < 12 ? 1 : 0.95)});
    facts.factors.push_back({"suite_tree", i < 6 ? "abc" : "def"});
    record_launch(all, facts);
  }
  const History made = history_of(std::move(all), {});
  ASSERT_EQ(made.releases.size(), 1U);
  EXPECT_EQ(made.releases[0].setup.at(0).factor, "suite_tree");
  ASSERT_EQ(made.events.size(), 1U);
  EXPECT_TRUE(releases_in(made.events[0].setup).empty());
}

TEST(History, ASuiteThatDiffersEachNightIsNoRelease) {
  Chronicle all;
  for (std::uint32_t i = 0; i < 12; ++i) {
    LaunchFacts facts = night(i, {600 + wobble(i)});
    facts.factors.push_back({"kernels_tree", fmt::format("tree-{}", i)});
    record_launch(all, facts);
  }
  EXPECT_TRUE(history_of(std::move(all), {}).releases.empty());
}

TEST(History, TwoReleasesInTwoNightsHideNoStep) {
  Chronicle all;
  for (std::uint32_t i = 0; i < 20; ++i) {
    LaunchFacts facts =
        night(i, {(600 + 0.2 * wobble(i)) * (i < 12 ? 1 : 0.95)}, i < 10 ? "580.1" : "590.1");
    facts.factors.push_back({"suite_tree", i < 12 ? "abc" : "def"});
    record_launch(all, facts);
  }
  const History made = history_of(std::move(all), {});
  ASSERT_EQ(made.events.size(), 1U);
  EXPECT_EQ(made.events[0].after, 12U);
  EXPECT_EQ(releases_in(made.events[0].setup).at(0).factor, "suite_tree");
}

TEST(History, AnotherGpuInTheSamePlaceIsARelease) {
  Chronicle all;
  for (std::uint32_t i = 0; i < 8; ++i) {
    LaunchFacts facts = night(i, {600, 600});
    if (i >= 4) facts.gpus[1].uuid = "GPU-9";
    record_launch(all, facts);
  }
  const History made = history_of(std::move(all), {});
  ASSERT_EQ(made.releases.size(), 1U);
  EXPECT_EQ(made.releases[0].setup.at(0).before, "GPU-1");
  EXPECT_EQ(made.releases[0].setup.at(0).after, "GPU-9");
}

TEST(History, AGpuThatIsNotThereIsNoRelease) {
  Chronicle all;
  for (std::uint32_t i = 0; i < 8; ++i) {
    record_launch(all, i < 4 ? night(i, {600, 600}) : night(i, {600}));
  }
  EXPECT_TRUE(history_of(std::move(all), {}).releases.empty());
}

TEST(History, TheNewestNightIsHeldAgainstNightsOfItsRelease) {
  Chronicle all;
  for (std::uint32_t i = 0; i < 24; ++i) {
    const double level = i < 12 ? 600 : i < 23 ? 500 : 550;
    record_launch(all, night(i, {level + 0.2 * wobble(i)}, i < 12 ? "580.1" : "590.1"));
  }
  const History made = history_of(std::move(all), {});
  ASSERT_EQ(made.newest.size(), 1U);
  EXPECT_EQ(made.newest[0].nights, 10U);
}

TEST(History, AnUnreadDriverIsNoRelease) {
  Chronicle all;
  for (std::uint32_t i = 0; i < 20; ++i)
    record_launch(all, night(i, {600, 600}, i >= 8 && i < 11 ? "" : "580.1"));
  EXPECT_TRUE(history_of(std::move(all), {}).releases.empty());
}

TEST(History, ADriverThatOneGpuDoesNotReadIsNoRelease) {
  Chronicle all;
  for (std::uint32_t i = 0; i < 20; ++i) {
    LaunchFacts facts = night(i, {600, 600}, "580.1");
    facts.gpus[1].values[0] = i == 8 ? "" : "590.1";
    record_launch(all, facts);
  }
  EXPECT_TRUE(history_of(std::move(all), {}).releases.empty());
}

TEST(History, ADriverBehindUnreadOnesIsAReleaseOfTheLastThatWasRead) {
  Chronicle all;
  for (std::uint32_t i = 0; i < 20; ++i)
    record_launch(all, night(i, {600, 600}, i < 8 ? "580.1" : i < 11 ? "" : "590.1"));
  const History made = history_of(std::move(all), {});
  ASSERT_EQ(made.releases.size(), 1U);
  EXPECT_EQ(made.releases[0].after, 11U);
  EXPECT_EQ(made.releases[0].setup.at(0).before, "580.1");
  EXPECT_EQ(made.releases[0].setup.at(0).after, "590.1");
}

TEST(History, AStepWhereTheDriverIsUnreadIsOfNoRelease) {
  Chronicle all;
  for (std::uint32_t i = 0; i < 20; ++i) {
    const double level = (600 + 0.2 * wobble(i)) * (i < 12 ? 1 : 0.95);
    record_launch(all, night(i, {level}, i < 12 ? "580.1" : ""));
  }
  const History made = history_of(std::move(all), {});
  ASSERT_EQ(made.events.size(), 1U);
  EXPECT_TRUE(releases_in(made.events[0].setup).empty());
}

TEST(History, AGpuHasReleasesOfItsOwn) {
  const std::uint32_t updates[] = {4, 12, 12, 20};
  Chronicle all;
  for (std::uint32_t i = 0; i < 24; ++i) {
    const double level = 600 + 0.2 * wobble(i);
    LaunchFacts facts = night(i, {level, level * (i < 23 ? 1 : 0.7), level, level});
    for (std::uint32_t gpu = 0; gpu < 4; ++gpu)
      facts.gpus[gpu].values[0] = i < updates[gpu] ? "580.1" : "590.1";
    record_launch(all, facts);
  }
  const History made = history_of(std::move(all), {});
  ASSERT_EQ(made.newest.size(), 1U);
  EXPECT_EQ(made.chronicle.gpus[made.newest[0].gpu].key, "GPU-1");
  EXPECT_EQ(made.newest[0].nights, 10U);
}

TEST(History, AReleaseOfTheVirtualDeviceIsNoneOfTheGpus) {
  Chronicle all;
  for (std::uint32_t i = 0; i < 48; ++i) {
    const bool is_virtual = i % 2 == 1;
    LaunchFacts facts =
        night(i, {(600 + 0.2 * wobble(i)) * (i < 46 ? 1 : 0.7)}, is_virtual && i > 24 ? "2" : "1");
    facts.launch.is_virtual = is_virtual;
    record_launch(all, facts);
  }
  const History made = history_of(std::move(all), {});
  ASSERT_EQ(made.newest.size(), 2U);
  EXPECT_EQ(made.metrics[made.newest[0].metric].key.is_virtual ? made.newest[1].nights
                                                               : made.newest[0].nights,
            22U);
}

TEST(History, ACaseSaysSinceWhenItFailsAndWhatChangedSinceItPassed) {
  Chronicle all;
  for (std::uint32_t i = 0; i < 10; ++i) {
    LaunchFacts facts = night(i, {600, 600}, i < 7 ? "580.1" : "590.1");
    if (i == 2 || i >= 7) facts.verdicts[1] = Verdict::fail;
    record_launch(all, facts);
  }
  const History made = history_of(std::move(all), {});
  const CasePast& past = made.cases.at(0);
  EXPECT_EQ(past.state, CaseState::failing);
  EXPECT_EQ(past.since, 7U);
  EXPECT_EQ(past.in_a_row, 3U);
  EXPECT_EQ(past.first_bad, 2U);
  EXPECT_EQ(past.last_pass, 6U);
  EXPECT_EQ(past.launches_bad, 4U);
  EXPECT_EQ(past.turns, 3U);
  ASSERT_EQ(past.results->back().bad_gpus.size(), 1U);
  EXPECT_EQ(made.chronicle.gpus[past.results->back().bad_gpus[0]].key, "GPU-1");
  ASSERT_NE(factor_of(past.setup, "driver"), nullptr);
}

TEST(History, AWaivedFailureIsAFailureThatSomebodyAnswersFor) {
  Chronicle all;
  for (std::uint32_t i = 0; i < 4; ++i) {
    LaunchFacts facts = night(i, {600, 600});
    if (i >= 2) facts.verdicts[1] = Verdict::waived;
    record_launch(all, facts);
  }
  const History made = history_of(std::move(all), {});
  const CasePast& past = made.cases.at(0);
  EXPECT_EQ(past.state, CaseState::waived);
  EXPECT_EQ(past.first_bad, 2U);
  EXPECT_EQ(past.since, 2U);
  EXPECT_EQ(past.launches_bad, 2U);
  EXPECT_EQ(past.launches_waived, 2U);
  ASSERT_EQ(past.results->back().bad_gpus.size(), 1U);
}

/// A night whose case fails on the second GPU, then one that this changes.
template <class Change>
CasePast after_failure(Change change) {
  Chronicle all;
  LaunchFacts failed = night(0, {600, 600}), then = night(1, {600, 600});
  failed.verdicts[1] = Verdict::fail;
  change(then);
  record_launch(all, failed);
  record_launch(all, then);
  const History made = history_of(std::move(all), {});
  CasePast past = made.cases.at(0);
  past.results = nullptr;  // of the history, which ends here
  return past;
}

TEST(History, ARunAsLargeThatPassesEndsAFailure) {
  const CasePast past = after_failure([](LaunchFacts&) {});
  EXPECT_EQ(past.state, CaseState::passing);
  EXPECT_EQ(past.since, 1U);
  EXPECT_TRUE(past.open_gpus.empty());
}

TEST(History, APassOfFewerRowsEndsNoFailure) {
  const CasePast past = after_failure([](LaunchFacts& facts) { facts.rows = {1, 1}; });
  EXPECT_EQ(past.state, CaseState::open);
  EXPECT_EQ(past.last_bad, 0U);
  EXPECT_EQ(past.open_gpus, (std::vector<std::uint32_t>{1}));
}

TEST(History, APassOfALowerLevelEndsNoFailure) {
  EXPECT_EQ(after_failure([](LaunchFacts& facts) { facts.launch.level = "quick"; }).state,
            CaseState::open);
  EXPECT_EQ(after_failure([](LaunchFacts& facts) { facts.launch.level = "soak"; }).state,
            CaseState::passing);
}

TEST(History, APassOfOneChosenRowEndsNoFailureOfAll) {
  const auto one_row = [](LaunchFacts& facts) {
    facts.factors.push_back({"arguments", "run --row 7 --cases gemm.local.speed"});
  };
  EXPECT_EQ(after_failure(one_row).state, CaseState::open);
}

TEST(History, APassOfOtherGpusEndsNoFailure) {
  const CasePast past = after_failure([](LaunchFacts& facts) {
    facts.gpus.pop_back();
    facts.verdicts.pop_back();
    facts.descriptors.pop_back();
    facts.rows.pop_back();
    for (SeriesOfLaunch& series : facts.series) series.medians.pop_back();
  });
  EXPECT_EQ(past.state, CaseState::open);
}

TEST(History, AGpuThatWasLostIsOpenUntilItPasses) {
  Chronicle all;
  LaunchFacts lost = night(0, {600, 600});
  lost.verdicts[1] = Verdict::gpu_lost;
  lost.series.clear();
  record_launch(all, lost);
  record_launch(all, night(1, {600}));  // without it
  const History without = history_of(Chronicle(all), {});
  EXPECT_EQ(without.cases.at(0).state, CaseState::open);
  EXPECT_EQ(without.cases.at(0).open_gpus, (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(without.cases.at(0).open_lost, std::optional<std::uint32_t>(0));
  EXPECT_FALSE(without.cases.at(0).open_bad);
  record_launch(all, night(2, {600, 600}));
  EXPECT_EQ(history_of(std::move(all), {}).cases.at(0).state, CaseState::passing);
}

TEST(History, ALossThatIsOverOpensNothing) {
  Chronicle all;
  LaunchFacts lost = night(0, {600, 600}), failed = night(2, {600, 600});
  lost.verdicts[1] = Verdict::gpu_lost;
  lost.series.clear();
  failed.verdicts[0] = Verdict::fail;
  failed.series.clear();
  record_launch(all, lost);
  record_launch(all, night(1, {600, 600}));
  record_launch(all, failed);
  LaunchFacts smaller = night(3, {600, 600});
  smaller.launch.level = "quick";
  record_launch(all, smaller);
  const History made = history_of(std::move(all), {});
  EXPECT_EQ(made.cases.at(0).open_gpus, (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(made.cases.at(0).open_bad, std::optional<std::uint32_t>(2));
  EXPECT_FALSE(made.cases.at(0).open_lost);
}

TEST(History, AResultThatWasNotRunIsOpenNowhere) {
  Chronicle all;
  LaunchFacts ended = night(0, {600, 600});
  ended.verdicts[1] = Verdict::not_run;
  ended.series.clear();
  record_launch(all, ended);
  record_launch(all, night(1, {600}));
  EXPECT_EQ(history_of(std::move(all), {}).cases.at(0).state, CaseState::passing);
}

TEST(History, AGpuThatMovedIsNamedWhereItIsNow) {
  Chronicle all;
  LaunchFacts moved = night(1, {600});
  moved.gpus[0].node = "n09";
  moved.gpus[0].number = 4;
  record_launch(all, moved);
  record_launch(all, night(0, {600}));  // read later, and older
  EXPECT_EQ(all.gpus.at(0).node, "n09");
  EXPECT_EQ(all.gpus.at(0).number, 4U);
}

TEST(History, ASkipEndsNoFailure) {
  const auto skipped = [](LaunchFacts& facts) { facts.verdicts = {Verdict::skip, Verdict::skip}; };
  EXPECT_EQ(after_failure(skipped).state, CaseState::open);
}

TEST(History, ANightThatDidNotRunACaseEndsNoFailureOfIt) {
  const CasePast past = after_failure([](LaunchFacts& facts) {
    facts.verdicts = {Verdict::not_run, Verdict::not_run};
    facts.series.clear();
  });
  EXPECT_EQ(past.state, CaseState::open);
  EXPECT_EQ(past.open_bad, std::optional<std::uint32_t>(0));
}

TEST(History, TheLossOfAGpuEndsNoFailureOfIt) {
  const CasePast past = after_failure([](LaunchFacts& facts) {
    facts.verdicts[1] = Verdict::gpu_lost;
    facts.series.clear();
  });
  EXPECT_EQ(past.state, CaseState::open);
  EXPECT_EQ(past.open_bad, std::optional<std::uint32_t>(0));
  EXPECT_EQ(past.open_lost, std::optional<std::uint32_t>(1));
}

TEST(History, AWaiverOfOneGpuEndsNoFailureOfAnother) {
  const auto other = [](LaunchFacts& facts) { facts.verdicts = {Verdict::waived, Verdict::skip}; };
  EXPECT_EQ(after_failure(other).state, CaseState::open);
  const auto same = [](LaunchFacts& facts) { facts.verdicts[1] = Verdict::waived; };
  EXPECT_EQ(after_failure(same).state, CaseState::waived);
}

TEST(History, FewerRowsOfAnotherSuiteEndAFailure) {
  const auto rewritten = [](LaunchFacts& facts) {
    facts.factors.push_back({"suite_tree", "other"});
    facts.rows = {4, 4};
  };
  EXPECT_EQ(after_failure(rewritten).state, CaseState::passing);
}

TEST(History, LaunchesWithoutACaseSayNothingAboutIt) {
  const CasePast past =
      after_failure([](LaunchFacts& facts) { facts.cases = {"load.tile.rank1"}; });
  EXPECT_EQ(past.name, "gemm.local.speed");
  EXPECT_EQ(past.state, CaseState::failing);
  EXPECT_EQ(past.launches_without, 1U);
}

TEST(History, ASmallerPassBeforeIsNotWhenItLastPassed) {
  Chronicle all;
  for (std::uint32_t i = 0; i < 3; ++i) {
    LaunchFacts facts = night(i, {600, 600});
    if (i == 1) facts.launch.level = "quick";
    if (i == 2) facts.verdicts[0] = Verdict::fail;
    record_launch(all, facts);
  }
  const History made = history_of(std::move(all), {});
  EXPECT_EQ(made.cases.at(0).last_pass, 0U);
}

TEST(History, WhatDidNotRunOnAGpuIsLackingAndNoPass) {
  Chronicle all;
  for (std::uint32_t i = 0; i < 3; ++i) {
    LaunchFacts facts = night(i, {600, 600});
    if (i == 2) facts.verdicts[0] = Verdict::gpu_lost;
    record_launch(all, facts);
  }
  const History made = history_of(std::move(all), {});
  EXPECT_EQ(made.cases[0].state, CaseState::lacking);
}

TEST(History, FailingCasesComeFirst) {
  Chronicle all;
  for (std::uint32_t i = 0; i < 3; ++i) {
    LaunchFacts facts = night(i, {600});
    facts.cases = {"a.passes", "b.lacks", "c.fails", "d.failed"};
    facts.over_all_gpus.assign(4, false);
    facts.verdicts = {Verdict::pass, Verdict::not_run, Verdict::crash,
                      i == 0 ? Verdict::fail : Verdict::pass};
    facts.descriptors.assign(4, 0);
    facts.rows.assign(4, 10);
    facts.series.clear();
    record_launch(all, facts);
  }
  const History made = history_of(std::move(all), {});
  ASSERT_EQ(made.cases.size(), 4U);
  EXPECT_EQ(made.cases[0].name, "c.fails");
  EXPECT_EQ(made.cases[1].name, "b.lacks");
  EXPECT_EQ(made.cases[2].name, "d.failed");
  EXPECT_EQ(made.cases[3].name, "a.passes");
}

TEST(Chronicle, TheSameLaunchTwiceIsRefusedAndNamed) {
  Chronicle all;
  record_launch(all, night(0, {600}));
  LaunchFacts copy = night(0, {600});
  copy.path = "copy.h5";
  EXPECT_EQ(error_from([&] { record_launch(all, copy); }),
            "copy.h5: is the same launch as night-0.h5; counted once, remove one of them");
  EXPECT_EQ(all.launches.size(), 1U);
}

TEST(Chronicle, AColumnWithoutACellForEachCaseAndGpuIsRefusedAndNothingIsAdded) {
  Chronicle all;
  LaunchFacts facts = night(0, {600, 600});
  facts.cases.emplace_back("zfill.corner");
  facts.over_all_gpus.push_back(false);
  facts.verdicts.resize(4, Verdict::pass);
  try {
    record_launch(all, facts);
    FAIL() << "read rows that are not there";
  } catch (const std::logic_error& error) {
    EXPECT_EQ(std::string(error.what()),
              "night-0.h5: 2 cases on 2 GPUs have 2 marks, 4 verdicts and 2 counts of rows");
  }
  EXPECT_TRUE(all.launches.empty());
}

TEST(Chronicle, ATimeThatIsNoneIsRefused) {
  for (const double time : {kNaN, -1.0, 0.0, 1e18, std::numeric_limits<double>::infinity()}) {
    Chronicle all;
    LaunchFacts facts = night(0, {600});
    facts.launch.created_unix_s = time;
    EXPECT_THROW(record_launch(all, facts), ReportError) << time;
    EXPECT_TRUE(all.launches.empty());
  }
}

TEST(SetupChanges, WhatDiffersNearlyEveryNightIsNotNamed) {
  Chronicle all;
  for (std::uint32_t i = 0; i < 8; ++i) {
    LaunchFacts facts = night(i, {600}, i < 4 ? "580.1" : "590.1");
    facts.factors.push_back({"environment.SLURM_JOB_ID", fmt::format("{}", i)});
    record_launch(all, facts);
  }
  sort_by_time(all);
  const std::set<std::string> restless = restless_factors(all);
  EXPECT_TRUE(restless.contains("environment.SLURM_JOB_ID"));
  EXPECT_FALSE(restless.contains("driver"));
  EXPECT_EQ(factor_of(setup_changes(all, restless, 3, 4), "environment.SLURM_JOB_ID"), nullptr);
  EXPECT_NE(factor_of(setup_changes(all, restless, 3, 4), "driver"), nullptr);
  EXPECT_EQ(factor_of(setup_changes(all, restless, 3, 4), "seed"), nullptr);
}

TEST(SetupChanges, OfOneGpuAreItsOwn) {
  Chronicle all;
  record_launch(all, night(0, {600, 600}));
  LaunchFacts facts = night(1, {600, 600});
  facts.gpus[1].values[3] = "96.00.B0";
  record_launch(all, facts);
  EXPECT_EQ(factor_of(setup_changes(all, {}, 0, 1, 0), "vbios"), nullptr);
  ASSERT_NE(factor_of(setup_changes(all, {}, 0, 1, 1), "vbios"), nullptr);
  EXPECT_EQ(factor_of(setup_changes(all, {}, 0, 1, 1), "vbios")->before, "unknown");
}

TEST(SetupChanges, NamesOfAnonymisedReportsAreNotCompared) {
  Chronicle all;
  for (std::uint32_t i = 0; i < 2; ++i) {
    LaunchFacts facts = night(i, {600});
    facts.launch.anonymised = true;
    facts.gpus[0].uuid = facts.gpus[0].node = fmt::format("hash-{}", i);
    record_launch(all, facts);
  }
  EXPECT_TRUE(setup_changes(all, {}, 0, 1).empty());
}

TEST(History, APassWithoutANumberIsLacking) {
  Chronicle all;
  for (std::uint32_t i = 0; i < 8; ++i) {
    Report report = synthetic_launch({.gpus = 4, .cases = 1}, i, false, {});
    if (i == 7) report.metrics[2].median = kNaN;
    record_launch(all, facts_of(report, report.launch.run_id));
  }
  EXPECT_EQ(history_of(std::move(all), {}).cases[0].state, CaseState::lacking);
}

TEST(History, APassWithoutTheNumbersOfEarlierLaunchesIsLacking) {
  Chronicle all;
  for (std::uint32_t i = 0; i < 8; ++i) {
    Report report = synthetic_launch({.gpus = 4, .cases = 2}, i, false, {});
    if (i == 7) report.metrics.clear();
    record_launch(all, facts_of(report, report.launch.run_id));
  }
  const History made = history_of(std::move(all), {});
  EXPECT_EQ(made.cases[0].state, CaseState::lacking);
  EXPECT_EQ(made.chronicle.launches[7].verdicts[static_cast<std::size_t>(Verdict::pass)], 0U);
}

TEST(History, APassWithoutTheNumberOfAnotherGpuIsLacking) {
  Chronicle all;
  for (std::uint32_t i = 0; i < 2; ++i) {
    Report report = synthetic_launch({.gpus = 4, .cases = 1}, i, false, {});
    if (i == 1) report.metrics.erase(report.metrics.begin() + 2);
    record_launch(all, facts_of(report, report.launch.run_id));
  }
  EXPECT_EQ(history_of(std::move(all), {}).cases[0].state, CaseState::lacking);
}

TEST(History, ACaseThatHadNoNumbersBeforeLacksNone) {
  Chronicle all;
  for (std::uint32_t i = 0; i < 3; ++i) {
    Report report = synthetic_launch({.gpus = 4, .cases = 1}, i, false, {});
    if (i < 2) report.metrics.clear();
    record_launch(all, facts_of(report, report.launch.run_id));
  }
  EXPECT_EQ(history_of(std::move(all), {}).cases[0].state, CaseState::passing);
}

TEST(History, GpusThatDidNotChangeWhereMostAreSlowerDidNotBecomeBetter) {
  Chronicle all;
  for (std::uint32_t i = 0; i < 20; ++i) {
    const double level = 600 + 0.2 * wobble(i), slower = level * (i < 10 ? 1 : 0.95);
    record_launch(all, night(i, {slower, slower, slower, level, level}));
  }
  const History made = history_of(std::move(all), {});
  ASSERT_EQ(made.changes.size(), 1U);
  EXPECT_EQ(made.changes[0].gpu, kNoRow);
}

}  // namespace
}  // namespace tidemark
