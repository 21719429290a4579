// What times a product is only worth something where the same product was exact: the engine takes
// another kernel for another size or type.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "suite/case.hpp"
#include "suite/registry.hpp"

namespace tidemark {
namespace {

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
