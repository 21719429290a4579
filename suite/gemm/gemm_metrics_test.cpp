// What a timed product measures, and which products are timed.
#include "suite/gemm/gemm_metrics.hpp"

#include <gtest/gtest.h>

#include "kernels/error.hpp"

namespace tidemark {
namespace {

Measurement two_samples() {
  Measurement measurement;
  measurement.samples = {{.at_unix_s = 10, .total_ns = 2e6, .exchange_ns = 5e5},
                         {.at_unix_s = 11, .total_ns = 4e6, .exchange_ns = 1e6}};
  return measurement;
}

TEST(GemmMetrics, RateCountsTheWholeProductOverTheRanksOwnTime) {
  Gemm gemm{.m = 8192, .n = 8192, .k = 8192};
  gemm.rows = {0, 4096};  // half of it is another rank's
  gemm.cols = {0, 8192};
  const Metric rate = gemm_rate(gemm, two_samples());
  EXPECT_EQ(rate.name, "rate");
  EXPECT_EQ(rate.unit, "TFLOP/s");
  EXPECT_TRUE(rate.higher_is_better);
  ASSERT_EQ(rate.values.size(), 2U);
  EXPECT_DOUBLE_EQ(rate.values[0], 549.755813888);  // 2 x 8192^3 / 0.002 s
  EXPECT_DOUBLE_EQ(rate.values[1], 549.755813888 / 2);
  EXPECT_EQ(rate.at_unix_s, (std::vector<double>{10, 11}));
  EXPECT_DOUBLE_EQ(rate.seconds.at(1), 0.004);
}

TEST(GemmMetrics, ExchangeIsInMillisecondsAndBetterWhenLow) {
  const Metric exchange = gemm_exchange({.m = 8192, .n = 8192, .k = 8192}, two_samples());
  EXPECT_EQ(exchange.name, "exchange");
  EXPECT_FALSE(exchange.higher_is_better);
  EXPECT_EQ(exchange.values, (std::vector<double>{0.5, 1}));
}

/// The same over a transport.
Measurement two_distributed_samples() {
  Measurement measurement = two_samples();
  measurement.samples[0].wait_ns = 2.5e5;
  measurement.samples[0].slowest_total_ns = 2.5e6;
  measurement.samples[0].slowest_local_ns = 2e6;
  measurement.samples[1].slowest_total_ns = 4e6;
  measurement.samples[1].slowest_local_ns = 4e6;
  return measurement;
}

TEST(GemmMetrics, EfficiencyIsTheSlowestProductAloneOverTheSlowestWithItsExchange) {
  const auto efficiency =
      gemm_efficiency({.m = 8192, .n = 8192, .k = 8192}, two_distributed_samples());
  ASSERT_TRUE(efficiency.has_value());
  EXPECT_EQ(efficiency->name, "efficiency");
  EXPECT_EQ(efficiency->unit, "ratio");
  EXPECT_TRUE(efficiency->higher_is_better);
  EXPECT_EQ(efficiency->values, (std::vector<double>{0.8, 1}));
  EXPECT_EQ(efficiency->at_unix_s, (std::vector<double>{10, 11}));
}

TEST(GemmMetrics, NoteSaysWhereTheTimeOfASlowExchangeGoes) {
  Measurement measurement;
  measurement.samples = {{.at_unix_s = 10,
                          .total_ns = 900e3,
                          .wait_ns = 50e3,
                          .local_ns = 800e3,
                          .slowest_total_ns = 930e3,
                          .slowest_local_ns = 810e3}};
  EXPECT_EQ(
      exchange_note({.m = 64, .n = 32, .k = 16, .route = PanelRoute::copy_engine}, measurement),
      "64 x 32 x 16 by copy_engine: 930.0 us, of which the product alone is 810.0 us; here 50.0 "
      "us wait for rows of others, 50.0 us are lost beside or before the exchange, 20.0 us to "
      "a slower rank (medians)");
  EXPECT_EQ(exchange_note({.m = 64, .n = 32, .k = 16}, two_samples()), "");
}

TEST(GemmMetrics, DigestIsTheSumOverRanks) {
  RunResult last;
  last.digests = {0xfffffffffffffff0, 0x12};
  EXPECT_EQ(digest_note({.m = 64, .n = 32, .k = 16, .seed = 7}, last),
            "64 x 32 x 16 of seed 0x7: digest of C 0x0000000000000002");
  EXPECT_EQ(digest_note({.m = 64, .n = 32, .k = 16, .seed = 7}, {}), "");
}

TEST(GemmMetrics, EfficiencyIsLeftOutWhereItWasNotMeasured) {
  const Gemm gemm{.m = 8192, .n = 8192, .k = 8192};
  EXPECT_FALSE(gemm_efficiency(gemm, two_samples()).has_value());
  Measurement half = two_distributed_samples();
  half.samples[1].slowest_local_ns = 0;
  EXPECT_FALSE(gemm_efficiency(gemm, half).has_value());
  EXPECT_FALSE(gemm_efficiency(gemm, {}).has_value());
}

TEST(GemmMetrics, OtherSizesCarryTheirsInTheName) {
  EXPECT_EQ(gemm_rate({.m = 16384, .n = 16384, .k = 16384}, two_samples()).name, "rate_16384");
  EXPECT_EQ(gemm_exchange({.m = 16384, .n = 16384, .k = 16384}, two_samples()).name,
            "exchange_16384");
  EXPECT_EQ(gemm_rate({.m = 8192, .n = 4096, .k = 2048}, two_samples()).name,
            "rate_8192x4096x2048");
  EXPECT_EQ(gemm_rate({.m = 8192, .n = 8192, .k = 1024}, two_samples()).name,
            "rate_8192x8192x1024");
  EXPECT_EQ(gemm_efficiency({.m = 16384, .n = 16384, .k = 16384}, two_distributed_samples())->name,
            "efficiency_16384");
}

TEST(GemmMetrics, RatesOfTheLadderCarryRungAndSizeInTheName) {
  const Metric rate =
      ladder_rate({.m = 8192, .n = 8192, .k = 8192, .rung = GemmRung::tma_store}, two_samples());
  EXPECT_EQ(rate.name, "tma_store_8192");
  EXPECT_DOUBLE_EQ(rate.values.at(0), 549.755813888);
}

TEST(GemmMetrics, SampleThatTookNoTimeIsAnError) {
  Measurement measurement = two_samples();
  measurement.samples[1].total_ns = 0;
  EXPECT_THROW(gemm_rate({.m = 192, .n = 192, .k = 192}, measurement), Error);
}

}  // namespace

}  // namespace tidemark
