// The predicted time of a distributed product: its limits, its order, and a few sums by hand.
#include "suite/gemm/predict_time.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "kernels/error.hpp"

namespace tidemark {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr GemmShape kLarge{16384, 16384, 16384};
constexpr PredictedMachine kH200{
    .product = 790e12, .link = 370e9, .network = 46e9, .fixed_s = 20e-6, .gpus_per_node = 8};

PredictedMachine with(double PredictedMachine::*member, double value) {
  PredictedMachine machine = kH200;
  machine.*member = value;
  return machine;
}

TEST(PredictTime, OneGpuTakesTheTimeOfItsProduct) {
  const PredictedTime time = predict_time(kLarge, 1, kH200);
  EXPECT_DOUBLE_EQ(time.seconds, 2.0 * 16384 * 16384 * 16384 / 790e12);
  EXPECT_EQ(time.efficiency, 1);
  EXPECT_DOUBLE_EQ(time.flops, 790e12);
  EXPECT_EQ(time.link_s + time.network_s + time.fixed_s, 0);
  EXPECT_EQ(time.bottleneck, Bottleneck::product);
}

TEST(PredictTime, WithAnInfiniteLinkNothingButTheFixedCostIsAdded) {
  for (const std::uint32_t ranks : {2U, 6U, 8U}) {
    const PredictedTime time =
        predict_time({4096, 5000, 1000}, ranks, with(&PredictedMachine::link, kInfinite));
    EXPECT_DOUBLE_EQ(time.seconds, time.product_s + 20e-6) << ranks;
    EXPECT_EQ(time.wait_s, 0);
  }
}

TEST(PredictTime, WithInfiniteLinksNodesDoNotMatter) {
  PredictedMachine machine = with(&PredictedMachine::link, kInfinite);
  machine.network = kInfinite;
  const PredictedTime time = predict_time(kLarge, 64, machine);
  EXPECT_DOUBLE_EQ(time.seconds, time.product_s + 20e-6);
  EXPECT_EQ(time.network_s, 0);
}

TEST(PredictTime, OverASlowLinkTheTransferIsAllOfIt) {
  const PredictedTime time = predict_time(kLarge, 8, with(&PredictedMachine::link, 1e9));
  // 2 x 4: 3/4 of the A panel of 8192 rows, 1/2 of the B panel of 4096.
  const double bytes = 2.0 * 16384 * (6144 + 2048);
  EXPECT_DOUBLE_EQ(time.link_s, bytes / 1e9);
  EXPECT_GT(time.seconds, time.link_s);
  EXPECT_NEAR(time.seconds, time.link_s, 0.01 * time.link_s);
  EXPECT_EQ(time.bottleneck, Bottleneck::link);
}

TEST(PredictTime, TheGridIsThatOfTheProduct) {
  const PredictedTime time = predict_time(kLarge, 8, kH200);
  EXPECT_EQ(time.grid.rows, 2U);
  EXPECT_EQ(time.grid.cols, 4U);
  EXPECT_EQ(time.nodes, 1U);
  EXPECT_EQ(predict_time({1, 4096, 64}, 8, kH200).grid.cols, 8U);
}

TEST(PredictTime, ALargeProductHidesItsExchangeAndASmallOneDoesNot) {
  EXPECT_GT(predict_time(kLarge, 8, kH200).efficiency, 0.97);
  const PredictedTime small = predict_time({8192, 8192, 8192}, 8, kH200);
  EXPECT_LT(small.efficiency, 0.9);
  EXPECT_EQ(small.bottleneck, Bottleneck::link);
}

TEST(PredictTime, ATinyProductIsAllFixedCost) {
  const PredictedTime time = predict_time({256, 256, 256}, 4, kH200);
  EXPECT_EQ(time.bottleneck, Bottleneck::fixed_cost);
  EXPECT_LT(time.efficiency, 0.01);
}

TEST(PredictTime, TimesAddUp) {
  for (const std::uint32_t ranks : {1U, 2U, 7U, 16U, 64U}) {
    const PredictedTime time = predict_time(kLarge, ranks, kH200);
    EXPECT_NEAR(time.seconds, time.product_s + time.wait_s + time.fixed_s, 1e-12);
    EXPECT_GE(time.wait_s, 0);
    EXPECT_GE(time.seconds, time.link_s);
    EXPECT_GE(time.seconds, time.network_s);
    EXPECT_LE(time.efficiency, 1);
  }
}

TEST(PredictTime, NoRateMakesItSlowerWhenItGrows) {
  for (const std::uint32_t ranks : {2U, 8U, 16U, 48U})
    for (double PredictedMachine::*member :
         {&PredictedMachine::product, &PredictedMachine::link, &PredictedMachine::network}) {
      double before = kInfinite;
      for (const double factor : {0.1, 0.5, 1.0, 2.0, 10.0}) {
        const double seconds =
            predict_time(kLarge, ranks, with(member, factor * kH200.*member)).seconds;
        EXPECT_LE(seconds, before * (1 + 1e-9)) << ranks << " x " << factor;
        before = seconds;
      }
    }
}

TEST(PredictTime, EfficiencyGrowsWithTheProduct) {
  for (const std::uint32_t ranks : {2U, 8U, 64U}) {
    double before = 0;
    for (const std::uint64_t edge : {4096U, 8192U, 16384U, 32768U, 65536U}) {
      const double efficiency = predict_time({edge, edge, edge}, ranks, kH200).efficiency;
      EXPECT_GE(efficiency, before) << ranks << " GPUs, " << edge;
      before = efficiency;
    }
  }
}

TEST(PredictTime, AByteCrossesTheNetworkOnceForItsNode) {
  // 4 x 4, two nodes of two rows each: half of each B panel, four of them, over eight GPUs.
  const PredictedTime time = predict_time(kLarge, 16, kH200);
  ASSERT_EQ(time.grid.rows, 4U);
  EXPECT_EQ(time.nodes, 2U);
  EXPECT_DOUBLE_EQ(time.network_s, 2.0 * 16384 * 4 * 2048 / 8 / 46e9);
  // 3/4 of the A panel from peers; of B a quarter from peers, and 7/8 of a half.
  EXPECT_DOUBLE_EQ(time.link_s, 2.0 * 16384 * (3072 + 1024 + 0.875 * 2048) / 370e9);
}

TEST(PredictTime, WithOneGpuANodeNothingCrossesALink) {
  PredictedMachine machine = kH200;
  machine.gpus_per_node = 1;
  const PredictedTime time = predict_time(kLarge, 4, machine);
  EXPECT_EQ(time.nodes, 4U);
  EXPECT_EQ(time.link_s, 0);
  EXPECT_DOUBLE_EQ(time.network_s, 2.0 * 16384 * (4096 + 4096) / 46e9);
  EXPECT_EQ(time.bottleneck, Bottleneck::network);
}

TEST(PredictTime, TheLastNodeMayBeSmaller) {
  PredictedMachine machine = kH200;
  machine.gpus_per_node = 6;
  const PredictedTime time = predict_time(kLarge, 8, machine);
  EXPECT_EQ(time.nodes, 2U);
  EXPECT_GT(time.network_s, 0);
}

TEST(PredictTime, ShapesThatDoNotDivideHaveATimeToo) {
  for (const GemmShape& shape : {GemmShape{1, 1, 1}, GemmShape{3, 1000, 7}, GemmShape{257, 255, 1}})
    for (const std::uint32_t ranks : {1U, 5U, 24U}) {
      const PredictedTime time = predict_time(shape, ranks, kH200);
      EXPECT_GT(time.seconds, 0);
      EXPECT_LE(time.efficiency, 1);
    }
}

TEST(PredictTime, NoRanksAreAnError) { EXPECT_THROW(predict_time(kLarge, 0, kH200), Error); }

TEST(ShareLine, TwoQueuesHalveItAndOneHasAllOfIt) {
  std::vector<PanelTransfer> left = {{.cost_s = 1}}, right = {{.cost_s = 1}, {.cost_s = 2}};
  share_line(left, right);
  EXPECT_DOUBLE_EQ(left[0].done_s, 2);
  EXPECT_DOUBLE_EQ(right[0].done_s, 2);
  EXPECT_DOUBLE_EQ(right[1].done_s, 4);
}

TEST(ShareLine, IsIdleUntilSomethingIsReady) {
  std::vector<PanelTransfer> left = {{.ready_s = 3, .cost_s = 2}},
                             right = {{.ready_s = 4, .cost_s = 1}};
  share_line(left, right);
  // Alone for 1 s, then both have 1 s left.
  EXPECT_DOUBLE_EQ(left[0].done_s, 6);
  EXPECT_DOUBLE_EQ(right[0].done_s, 6);
}

TEST(ShareLine, WhatCostsNothingIsThereAtOnce) {
  std::vector<PanelTransfer> left = {{.cost_s = 0}, {.ready_s = 1, .cost_s = 0}}, right;
  share_line(left, right);
  EXPECT_EQ(left[0].done_s, 0);
  EXPECT_EQ(left[1].done_s, 1);
}

TEST(MultipliedS, TakesWhatIsThereAndWaitsForTheRest) {
  // 1 pair at 0; row 2 of A at 10 brings 1 more, row 2 of B at 11 brings 2 more.
  EXPECT_DOUBLE_EQ(multiplied_s({{0, 1}, {10, 1}}, {{0, 1}, {11, 1}}, 2), 16);
  EXPECT_DOUBLE_EQ(multiplied_s({{0, 1}, {1, 1}}, {{0, 1}, {1, 1}}, 2), 8);  // never waits
  EXPECT_DOUBLE_EQ(multiplied_s({{5, 3}}, {{2, 2}}, 1), 11);
  EXPECT_EQ(multiplied_s({{0, 4}}, {}, 1), 0);
}

}  // namespace
}  // namespace tidemark
