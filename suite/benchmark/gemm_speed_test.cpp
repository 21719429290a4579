// The rows of the ladder's two cases on a GPU: no rung is timed that is not held to integers.
#include <gtest/gtest.h>

#include <set>
#include <string>
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

}  // namespace
}  // namespace tidemark
