// Which configuration a product gets, decided by samples that are written down here.
#include "kernels/cuda/gemm/tuning/gemm_tuning.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tidemark::kernels {
namespace {

using Kind = TuningVerdict::Kind;
using Standing = TriedConfiguration::Standing;

/// Pairs beside a present configuration that takes 100 ns.
std::vector<PairTimes> pairs(std::initializer_list<double> ours) {
  std::vector<PairTimes> made;
  for (const double ns : ours) made.push_back({.before_ns = 100, .ours_ns = ns, .behind_ns = 100});
  return made;
}

TriedConfiguration tried(const std::string& name, const std::vector<PairTimes>& at_work,
                         const std::vector<PairTimes>& rested) {
  return {.name = name, .at_work = at_work, .rested = rested};
}

/// The present one, whose samples lie 1 % apart, and another one.
TriedProduct beside_present(const TriedConfiguration& other) {
  return {.product = {.m = 1, .n = 1, .k = 1},
          .present = "now",
          .all = {tried("now", pairs({99.5, 100, 100, 100.5, 100}),
                        pairs({99.5, 100, 100, 100.5, 100})),
                  other}};
}

TEST(TuningScore, IsTheMedianRatioWithItsSpreadAndDrift) {
  const DuelScore score = score_of({{.before_ns = 100, .ours_ns = 50, .behind_ns = 110},
                                    {.before_ns = 90, .ours_ns = 100, .behind_ns = 110},
                                    {.before_ns = 100, .ours_ns = 25, .behind_ns = 100}});
  EXPECT_DOUBLE_EQ(score.ratio, 2.1);
  EXPECT_DOUBLE_EQ(score.spread, 3);
  EXPECT_NEAR(score.drift, 0.1, 1e-12);
  EXPECT_DOUBLE_EQ(score.ours_ns, 50);
  EXPECT_DOUBLE_EQ(score.theirs_ns, 105);
}

TEST(TuningScore, OfNothingIsNothing) { EXPECT_EQ(score_of({}).ratio, 0); }

TEST(TuningVerdict, FasterByMoreThanNoiseTakesThePlace) {
  const TuningVerdict verdict = verdict_of(
      beside_present(tried("new", pairs({95, 95, 95, 95, 95}), pairs({95, 95, 95, 95, 95}))));
  EXPECT_EQ(verdict.kind, Kind::replaced);
  EXPECT_EQ(verdict.configuration, "new");
  EXPECT_NEAR(verdict.gain, 100 / 95.0 - 1, 1e-12);
  EXPECT_EQ(verdict.at_work_ns, 95);
  EXPECT_EQ(verdict.rested_ns, 95);
}

TEST(TuningVerdict, WithinItsOwnNoiseThePresentOneStays) {
  const TuningVerdict verdict = verdict_of(
      beside_present(tried("new", pairs({90, 92, 98, 104, 106}), pairs({90, 92, 98, 104, 106}))));
  EXPECT_EQ(verdict.kind, Kind::kept);
  EXPECT_EQ(verdict.configuration, "now");
  EXPECT_EQ(verdict.gain, 0);
  EXPECT_EQ(verdict.at_work_ns, 100);
}

TEST(TuningVerdict, WithinTheNoiseOfThePresentOneAgainstItselfItStays) {
  TriedProduct product =
      beside_present(tried("new", pairs({97, 97, 97, 97, 97}), pairs({97, 97, 97, 97, 97})));
  EXPECT_EQ(verdict_of(product).kind, Kind::replaced);
  product.all[0] = tried("now", pairs({95, 96, 100, 104, 105}), pairs({95, 96, 100, 104, 105}));
  EXPECT_EQ(verdict_of(product).kind, Kind::kept);
}

TEST(TuningVerdict, WhereThePresentOneIsNotItselfNothingSmallerCounts) {
  TriedProduct product =
      beside_present(tried("new", pairs({97, 97, 97, 97, 97}), pairs({97, 97, 97, 97, 97})));
  product.all[0] = tried("now", pairs({96, 96, 96, 96, 96}), pairs({96, 96, 96, 96, 96}));
  EXPECT_EQ(verdict_of(product).kind, Kind::kept);
}

TEST(TuningVerdict, GainTooSmallToMatterIsNone) {
  const TriedConfiguration now = tried("now", pairs({100, 100, 100}), pairs({100, 100, 100}));
  TriedProduct product{.product = {}, .present = "now", .all = {now, now}};
  product.all[1] = tried("new", pairs({99.8, 99.8, 99.8}), pairs({99.8, 99.8, 99.8}));
  EXPECT_EQ(verdict_of(product).kind, Kind::kept);
  EXPECT_EQ(verdict_of(product).noise, kLeastGain);
  product.all[1] = tried("new", pairs({99.5, 99.5, 99.5}), pairs({99.5, 99.5, 99.5}));
  EXPECT_EQ(verdict_of(product).kind, Kind::replaced);
}

TEST(TuningVerdict, AtWorkAndRestedCountTogether) {
  const TuningVerdict verdict = verdict_of(
      beside_present(tried("new", pairs({95, 95, 95, 95, 95}), pairs({106, 106, 106, 106, 106}))));
  EXPECT_EQ(verdict.kind, Kind::kept);
}

TEST(TuningVerdict, FastestOfSeveralTakesThePlace) {
  TriedProduct product =
      beside_present(tried("good", pairs({97, 97, 97, 97, 97}), pairs({97, 97, 97, 97, 97})));
  product.all.push_back(tried("best", pairs({94, 94, 94, 94, 94}), pairs({94, 94, 94, 94, 94})));
  product.all.push_back(tried("fine", pairs({96, 96, 96, 96, 96}), pairs({96, 96, 96, 96, 96})));
  EXPECT_EQ(verdict_of(product).configuration, "best");
}

TEST(TuningVerdict, KindOfDuelThatDriftsIsLeftOut) {
  TriedConfiguration other = tried("new", pairs({95, 95, 95}), pairs({120, 120, 120}));
  for (PairTimes& pair : other.rested) pair.behind_ns = 103;
  const TuningVerdict verdict = verdict_of(beside_present(other));
  EXPECT_EQ(verdict.kind, Kind::replaced);
  EXPECT_EQ(verdict.at_work_ns, 95);
  EXPECT_EQ(verdict.rested_ns, 0);
}

TEST(TuningVerdict, DriftOfBothKindsDecidesNothing) {
  TriedConfiguration other = tried("new", pairs({95, 95, 95}), pairs({95, 95, 95}));
  for (PairTimes& pair : other.at_work) pair.behind_ns = 103;
  for (PairTimes& pair : other.rested) pair.behind_ns = 103;
  const TuningVerdict verdict = verdict_of(beside_present(other));
  EXPECT_EQ(verdict.kind, Kind::undecided);
  EXPECT_EQ(verdict.configuration, "now");
  EXPECT_EQ(verdict.reason, "no duel of the fastest counts");
}

TEST(TuningVerdict, PresentOneThatDriftsDecidesNothing) {
  TriedProduct product = beside_present(tried("new", pairs({95, 95, 95}), pairs({95, 95, 95})));
  for (PairTimes& pair : product.all[0].at_work) pair.behind_ns = 103;
  for (PairTimes& pair : product.all[0].rested) pair.behind_ns = 103;
  EXPECT_EQ(verdict_of(product).kind, Kind::undecided);
  EXPECT_EQ(verdict_of(product).reason,
            "the present choice drifted by more than 2 % against itself");
}

TEST(TuningVerdict, SampleThatIsNoTimeVoidsItsDuel) {
  for (const double none : {0.0, -1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
    const TuningVerdict verdict = verdict_of(
        beside_present(tried("new", pairs({95, 95, none, 95}), pairs({95, 95, none, 95}))));
    EXPECT_EQ(verdict.kind, Kind::undecided) << none;
  }
}

TEST(TuningVerdict, TwoPairsAreTooFew) {
  EXPECT_EQ(verdict_of(beside_present(tried("new", pairs({95, 95}), pairs({95, 95})))).kind,
            Kind::undecided);
}

TEST(TuningVerdict, TimeThatWasOverIsTheReason) {
  TriedProduct product = beside_present(tried("new", pairs({95}), pairs({95})));
  product.all[0] = tried("now", pairs({100}), pairs({100}));
  product.cut_short = true;
  EXPECT_EQ(verdict_of(product).kind, Kind::undecided);
  EXPECT_EQ(verdict_of(product).reason, "its time was over");
}

TEST(TuningVerdict, WithoutARivalThePresentOneStays) {
  TriedProduct product = beside_present({.name = "slow"});
  EXPECT_EQ(verdict_of(product).kind, Kind::kept);
}

TEST(TuningVerdict, AnyWrongProductBreaksAll) {
  TriedProduct product =
      beside_present(tried("new", pairs({95, 95, 95, 95, 95}), pairs({95, 95, 95, 95, 95})));
  product.all.push_back(
      {.name = "bad", .standing = Standing::wrong, .trouble = "3 of 9 elements are wrong"});
  EXPECT_EQ(verdict_of(product).kind, Kind::broken);
  EXPECT_EQ(verdict_of(product).reason, "bad: 3 of 9 elements are wrong");
}

TEST(TuningVerdict, CudaErrorBreaksAll) {
  TriedProduct product = beside_present(tried("new", pairs({95, 95, 95}), pairs({95, 95, 95})));
  product.fault = "an illegal address";
  EXPECT_EQ(verdict_of(product).kind, Kind::broken);
  EXPECT_EQ(verdict_of(product).reason, "an illegal address");
}

TEST(TuningVerdict, OneThatTheGpuCannotStartIsPassedOver) {
  TriedProduct product =
      beside_present(tried("new", pairs({95, 95, 95, 95, 95}), pairs({95, 95, 95, 95, 95})));
  product.all.push_back({.name = "large", .standing = Standing::refused, .trouble = "no room"});
  EXPECT_EQ(verdict_of(product).configuration, "new");
}

TEST(TuningVerdict, PresentOneThatTheGpuCannotStartDecidesNothing) {
  TriedProduct product = beside_present({.name = "new"});
  product.all[0] = {.name = "now", .standing = Standing::refused, .trouble = "no room"};
  EXPECT_EQ(verdict_of(product).kind, Kind::undecided);
  EXPECT_EQ(verdict_of(product).reason, "now: no room");
}

TEST(TuningEffort, IsWholeWhereTimeHasNoLimit) {
  const TuningEffort effort = effort_for(0);
  EXPECT_EQ(effort.finalists, 3);
  EXPECT_EQ(effort.pairs, 5);
  EXPECT_EQ(effort.budget_s, 0);
}

TEST(TuningEffort, ShrinksWithTheTimeAndKeepsToIt) {
  EXPECT_EQ(effort_for(60).pairs, 5);
  EXPECT_EQ(effort_for(60).budget_s, 60);
  EXPECT_EQ(effort_for(20).finalists, 2);
  EXPECT_LT(effort_for(10).finalists, effort_for(60).finalists);
}

TEST(TuningEffort, IsNeverTooLittleToDecide) {
  EXPECT_GE(effort_for(0.001).pairs, static_cast<int>(kFewestPairs));
  EXPECT_GE(effort_for(0.001).finalists, 1);
  EXPECT_GE(effort_for(0.001).race_rounds, 1);
}

}  // namespace
}  // namespace tidemark::kernels
