// Which rates of a report are found: those of four H200s, and others put beside them.
#include "harness/measured_rates.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tidemark {
namespace {

Report baseline() { return read_report(TIDEMARK_BASELINE); }

std::uint32_t stored(Report& report, const std::string& text) {
  report.strings.push_back(text);
  return static_cast<std::uint32_t>(report.strings.size() - 1);
}

/// On all GPUs the same.
void add_metric(Report& report, std::string_view of_case, const std::string& name,
                const std::string& unit, double median) {
  const std::uint32_t name_at = stored(report, name), unit_at = stored(report, unit);
  for (const ResultRow& result : report.results)
    if (report.cases[result.case_id].name.view() == of_case)
      report.metrics.push_back(
          {.result_id = result.result_id, .name = name_at, .unit = unit_at, .median = median});
}

void drop_case(Report& report, std::string_view of_case) {
  std::erase_if(report.metrics, [&](const MetricRow& metric) {
    return report.cases[report.results[metric.result_id].case_id].name.view() == of_case;
  });
}

TEST(MeasuredRates, AreThoseOfTheSlowestGpu) {
  const MeasuredRates rates = measured_rates(baseline(), 8192);
  ASSERT_TRUE(rates.product && rates.link);
  // The slowest rank of each sample has 2841.8 TFLOP/s; no rank alone is that slow.
  EXPECT_NEAR(rates.product->value, 2841.8e12 / 4 / 0.88932, 0.1e12);
  EXPECT_EQ(rates.product->from, "rate and efficiency at 8192 of gemm.distributed.speed");
  // 2 x 2: 2048 rows of A and of B, of 16 KiB each, in 0.2486 ms.
  EXPECT_NEAR(rates.link->value, 4096 * 16384 / 0.24857e-3, 0.1e9);
  EXPECT_EQ(rates.link->from, "exchange at 8192 of gemm.distributed.speed");
}

TEST(MeasuredRates, NoLinkIsKnownWhereTheGridWasGiven) {
  Report report = baseline();
  report.provenance.push_back({stored(report, "argument.99"), stored(report, "--grid")});
  EXPECT_FALSE(measured_rates(report, 8192).link);
  EXPECT_TRUE(measured_rates(report, 8192).product);
}

TEST(MeasuredRates, NoLinkIsKnownWherePanelsCameByAnotherRoute) {
  Report report = baseline();
  const std::uint32_t notes =
      stored(report, "4 GPUs; panels by nccl: chosen by --transport; 2 x 2");
  for (ResultRow& result : report.results)
    if (report.cases[result.case_id].name.view() == "gemm.distributed.speed") result.notes = notes;
  const MeasuredRates rates = measured_rates(report, 8192);
  EXPECT_FALSE(rates.link);
  EXPECT_FALSE(rates.fixed);
  EXPECT_EQ(rates.no_link, "its panels came by nccl, not by copy_engine");
  EXPECT_TRUE(rates.product);
}

TEST(MeasuredRates, WhatIsInfiniteDoesNotCount) {
  Report report = baseline();
  for (MetricRow& metric : report.metrics) metric.median = HUGE_VAL;
  EXPECT_FALSE(measured_rates(report, 8192).product);
}

TEST(MeasuredRates, ProductIsThatOfOneGpuWhereNoneRanBesideAnExchange) {
  Report report = baseline();
  drop_case(report, "gemm.distributed.speed");
  const MeasuredRates rates = measured_rates(report, 8192);
  ASSERT_TRUE(rates.product);
  EXPECT_NEAR(rates.product->value, 692.62e12, 0.01e12);
  EXPECT_EQ(rates.product->from, "rate at 8192 of gemm.local.speed");
  EXPECT_FALSE(rates.fixed);
}

TEST(MeasuredRates, FixedIsWhatNeitherMultipliesNorWaits) {
  Report report = baseline();
  add_metric(report, "gemm.distributed.speed", "rate_16384", "TFLOP/s", 2000);
  add_metric(report, "gemm.distributed.speed", "efficiency_16384", "", 0.9);
  add_metric(report, "gemm.distributed.speed", "exchange_16384", "ms", 0.01);
  const MeasuredRates rates = measured_rates(report, 16384);
  ASSERT_TRUE(rates.fixed);
  EXPECT_NEAR(rates.fixed->value, 2 * std::pow(16384.0, 3) / 2000e12 * 0.1, 1e-9);
  EXPECT_EQ(rates.fixed->from, "time at 16384 of gemm.distributed.speed");
}

TEST(MeasuredRates, NothingIsFixedInAGemmThatIsFasterThanAlone) {
  Report report = baseline();
  add_metric(report, "gemm.distributed.speed", "rate_16384", "TFLOP/s", 2000);
  add_metric(report, "gemm.distributed.speed", "efficiency_16384", "", 1.01);
  EXPECT_EQ(measured_rates(report, 16384).fixed->value, 0);
}

TEST(MeasuredRates, ProductIsThatBesideTheExchangeWhereItsEfficiencyIsKnown) {
  Report report = baseline();
  add_metric(report, "gemm.distributed.speed", "rate_16384", "TFLOP/s", 2400);
  add_metric(report, "gemm.distributed.speed", "efficiency_16384", "", 0.8);
  const MeasuredRates rates = measured_rates(report, 16384);
  ASSERT_TRUE(rates.product);
  EXPECT_DOUBLE_EQ(rates.product->value, 2400e12 / 4 / 0.8);
  EXPECT_EQ(rates.product->from, "rate and efficiency at 16384 of gemm.distributed.speed");
}

TEST(MeasuredRates, OneGpuHasNoEfficiencyToDivideBy) {
  Report report = baseline();
  drop_case(report, "gemm.local.speed");
  drop_case(report, "gemm.distributed.speed");
  add_metric(report, "gemm.distributed.speed", "rate_16384", "TFLOP/s", 700);
  EXPECT_FALSE(measured_rates(report, 16384).product);

  report.launch.gpus = 1;
  const MeasuredRates rates = measured_rates(report, 16384);

  ASSERT_TRUE(rates.product);
  EXPECT_DOUBLE_EQ(rates.product->value, 700e12);
  EXPECT_EQ(rates.product->from, "rate at 16384 of gemm.distributed.speed");
}

TEST(MeasuredRates, EfficiencyMayBeInPercent) {
  Report report = baseline();
  add_metric(report, "gemm.distributed.speed", "rate_16384", "TFLOP/s", 2400);
  add_metric(report, "gemm.distributed.speed", "efficiency_16384", "%", 80);
  EXPECT_DOUBLE_EQ(measured_rates(report, 16384).product->value, 2400e12 / 4 / 0.8);
}

TEST(MeasuredRates, TakeTheNearestSize) {
  Report report = baseline();
  add_metric(report, "gemm.distributed.speed", "exchange_32768", "ms", 10);
  EXPECT_EQ(measured_rates(report, 1000).link->from, "exchange at 8192 of gemm.distributed.speed");
  EXPECT_EQ(measured_rates(report, 1e6).link->from, "exchange at 32768 of gemm.distributed.speed");
}

TEST(MeasuredRates, OtherMetricsAreNoSizes) {
  Report report = baseline();
  drop_case(report, "gemm.local.speed");
  drop_case(report, "gemm.distributed.speed");
  for (const char* name : {"rate_", "rate_x", "rate_1x", "rates", "rate_0", "rate_-1",
                           "rate_99999999999999999999", "rate_4294967296"})
    add_metric(report, "gemm.local.speed", name, "TFLOP/s", 700);
  EXPECT_FALSE(measured_rates(report, 8192).product);
}

TEST(MeasuredRates, WhatDidNotPassOrIsNotAboveZeroDoesNotCount) {
  Report failed = baseline();
  for (ResultRow& result : failed.results) result.verdict = Verdict::fail;
  EXPECT_FALSE(measured_rates(failed, 8192).product);
  Report none = baseline();
  for (MetricRow& metric : none.metrics) metric.median = 0;
  EXPECT_FALSE(measured_rates(none, 8192).product);
  EXPECT_FALSE(measured_rates(none, 8192).link);
}

TEST(MeasuredRates, OverSeveralNodesTheExchangeIsNoLink) {
  Report report = baseline();
  report.nodes.push_back(report.nodes[0]);
  EXPECT_FALSE(measured_rates(report, 8192).link);
}

TEST(MeasuredRates, ReportThatNamesABillionGpusHasNoLink) {
  Report report = baseline();
  report.launch.gpus = 1'000'000'000;
  EXPECT_FALSE(measured_rates(report, 8192).link);
}

TEST(MeasuredRates, OneProcessWithAllGpusIsNoOtherGemm) {
  const Report apart = baseline();
  Report together = apart;
  together.launch.ranks_expected = 1;
  for (GpuRow& gpu : together.gpus) gpu.rank = 0;
  EXPECT_EQ(measured_rates(together, 8192).product->value,
            measured_rates(apart, 8192).product->value);
  EXPECT_EQ(measured_rates(together, 8192).link->value, measured_rates(apart, 8192).link->value);
}

}  // namespace
}  // namespace tidemark
