// The rows of the ladder's two cases on a GPU: no rung is timed that is not held to integers.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "suite/case.hpp"

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

}  // namespace
}  // namespace tidemark
