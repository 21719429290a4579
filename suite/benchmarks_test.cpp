// What is timed was correct before: no rung of the ladder that is not held to integers.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "suite/case.hpp"
#include "suite/gemm/gemm_metrics.hpp"

namespace tidemark {
namespace {

std::vector<Gemm> gpu_rows(const char* name) {
  std::vector<Gemm> rows;
  for (const Op& op : case_named(name)->rows({.level = Level::nightly, .device = DeviceKind::cuda}))
    rows.push_back(std::get<Gemm>(op));
  return rows;
}

TEST(GemmLadder, EachRungIsTimedOnceAtBothSizes) {
  std::multiset<std::pair<std::string, std::uint64_t>> timed;
  for (const Gemm& row : gpu_rows("gemm.ladder"))
    timed.emplace(std::string(name_of(row.rung)), row.m);
  EXPECT_EQ(timed.size(), 16U);
  for (const char* rung : {"thread_copy", "cp_async", "tma_wgmma", "ring", "wide_tile",
                           "persistent", "multicast", "tma_store"})
    for (const std::uint64_t edge : {4096U, 8192U})
      EXPECT_EQ(timed.count({rung, edge}), 1U) << rung << " at " << edge;
}

TEST(GemmLadder, EachRungIsHeldToIntegersInBothOutputs) {
  std::set<std::pair<GemmRung, GemmOutput>> held;
  for (const Gemm& row : gpu_rows("gemm.local.ladder")) {
    EXPECT_EQ(row.inputs, GemmInputs::small_integers);
    held.emplace(row.rung, row.output);
  }
  EXPECT_EQ(held.size(), 16U);
  EXPECT_EQ(held.count({GemmRung::none, GemmOutput::f32}), 0U);
}

TEST(GemmLadder, RowsThatAreTimedWriteWhatTheDistributedProductWrites) {
  for (const Gemm& row : gpu_rows("gemm.ladder")) {
    EXPECT_EQ(row.inputs, GemmInputs::normal);
    EXPECT_EQ(row.output, GemmOutput::bf16);
    EXPECT_EQ(row.cols.count, row.n);
  }
}

MetricStep step_of(std::string_view metric) { return case_named("gemm.ladder")->step(metric); }

TEST(GemmLadder, ARungStandsOnTheOneBelowItAtTheSameSize) {
  std::set<std::string> timed;
  for (const Gemm& row : gpu_rows("gemm.ladder"))
    timed.insert(ladder_rate(row, Measurement{}).name);
  std::set<std::string> lowest;
  for (const std::string& metric : timed) {
    const std::string over = step_of(metric).over;
    if (over.empty()) {
      lowest.insert(metric);
      continue;
    }
    EXPECT_EQ(timed.count(over), 1U) << metric << " over " << over;
    EXPECT_EQ(metric.substr(metric.rfind('_')), over.substr(over.rfind('_'))) << metric;
  }
  EXPECT_EQ(lowest, (std::set<std::string>{"thread_copy_4096", "thread_copy_8192"}));
  EXPECT_EQ(step_of("tma_store_8192").over, "multicast_8192");
}

TEST(GemmLadder, OnlyTheArticlesSizeHasItsFigures) {
  EXPECT_EQ(step_of("thread_copy_4096").published, 32);
  EXPECT_EQ(step_of("tma_wgmma_4096").published, 317);
  EXPECT_EQ(step_of("tma_store_4096").published, 764);
  EXPECT_EQ(step_of("cp_async_4096").published, 0);  // a step that it does not have
  EXPECT_EQ(step_of("tma_store_8192").published, 0);
}

TEST(GemmLadder, WhatIsNoRungStandsOnNothing) {
  for (const char* metric : {"", "_4096", "rate", "ring", "tma_4096", "tma_store", "none_4096"}) {
    EXPECT_EQ(step_of(metric).over, "") << metric;
    EXPECT_EQ(step_of(metric).published, 0) << metric;
  }
}

// What times a product is only worth something where the same product was exact: the engine takes
// another kernel for another size or type.

/// The same kernel on the same block: rows of one case by the rows of the other.
bool is_same_product(const Gemm& timed, const Gemm& exact) {
  if (timed.rung != GemmRung::none) return timed.rung == exact.rung;
  return exact.rung == GemmRung::none && timed.rows.count == exact.rows.count &&
         timed.cols.count == exact.cols.count && timed.k == exact.k &&
         timed.output == exact.output && timed.element == exact.element && timed.lda == exact.lda &&
         timed.ldb == exact.ldb && timed.ldc == exact.ldc;
}

/// Parameter: the benchmark.
class TimedProducts : public testing::TestWithParam<std::string_view> {};

TEST_P(TimedProducts, AreHeldToIntegersFirst) {
  const Case* const timed = case_named(GetParam());
  ASSERT_NE(timed, nullptr);
  const Case* const exact = case_named(timed->correct_by);
  ASSERT_NE(exact, nullptr);
  for (const Level level : {Level::quick, Level::nightly}) {
    if (level < timed->level) continue;  // it does not run then
    for (const std::uint32_t ranks : {1U, 2U, 3U, 4U, 8U}) {
      const RunContext context{.level = level,
                               .device = DeviceKind::cuda,
                               .rank = ranks - 1,
                               .ranks = ranks,
                               .routes = {PanelRoute::copy_engine, PanelRoute::nccl}};
      const std::vector<Op> held = exact->rows(context);
      for (const Op& op : timed->rows(context))
        EXPECT_TRUE(std::any_of(held.begin(), held.end(),
                                [&](const Op& other) {
                                  return is_same_product(std::get<Gemm>(op), std::get<Gemm>(other));
                                }))
            << GetParam() << " on " << ranks << " ranks: k = " << std::get<Gemm>(op).k;
    }
  }
}

TEST(GivenProduct, IsTimedAloneAndHeldToIntegersOnItsGrid) {
  const Case* const timed = case_named("gemm.distributed.speed");
  const Case* const exact = case_named(timed->correct_by);
  for (const DeviceKind device : {DeviceKind::cuda, DeviceKind::virtual_device}) {
    const RunContext context{
        .device = device,
        .rank = 3,
        .ranks = 4,
        .product = {.shape = {.m = 640, .n = 320, .k = 96}, .grid = {.rows = 4, .cols = 1}}};
    const std::vector<Op> timings = timed->rows(context);
    ASSERT_EQ(timings.size(), 1U);
    const Gemm& gemm = std::get<Gemm>(timings.front());
    EXPECT_EQ(gemm.rows.count, 160U);
    EXPECT_EQ(gemm.cols.count, 320U);
    const Gemm integers = std::get<Gemm>(exact->rows(context).back());
    EXPECT_TRUE(is_same_product(gemm, integers));
    EXPECT_EQ(integers.inputs, GemmInputs::small_integers);
  }
}

INSTANTIATE_TEST_SUITE_P(Benchmarks, TimedProducts,
                         testing::Values("gemm.local.speed", "gemm.local.fp8_speed",
                                         "gemm.local.pitch_speed", "gemm.distributed.speed",
                                         "gemm.distributed.route_speed", "gemm.ladder"),
                         [](const auto& which) {
                           std::string name(which.param);
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

}  // namespace

}  // namespace tidemark
