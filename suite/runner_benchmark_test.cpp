// Benchmarks: what is measured, what is slowed, and that nothing wrong is ever timed.
#include <functional>
#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include "suite/runner.hpp"
#include "suite/testing/scripted_device.hpp"

namespace tidemark {
namespace {

std::vector<Op> no_rows(const RunContext&) { return {}; }

std::vector<Metric> duration(const Op&, const Measurement& measurement) {
  return {{.name = "time",
           .unit = "ns",
           .higher_is_better = false,
           .values = {measurement.samples.front().total_ns},
           .at_unix_s = {},
           .seconds = {}}};
}

constexpr Case kSpeed{.name = "test.speed",
                      .claim = "",
                      .cites = "",
                      .kind = CaseKind::benchmark,
                      .rows = three_rows,
                      .metrics = duration};

TEST(RunCase, MeasuresABenchmark) {
  ScriptedDevice device([](int, const Program&, RunResult&) {});
  const Outcome outcome = run_case(kSpeed, device, {});
  EXPECT_EQ(outcome.judgement, Judgement::pass);
  EXPECT_EQ(device.slow(), 0);
  ASSERT_EQ(outcome.metrics.size(), 3U);
  EXPECT_EQ(outcome.metrics[0].values, std::vector<double>{2000});
  EXPECT_EQ(device.runs(), 0);
}

TEST(RunCase, TellsTheDeviceToSlowABenchmarkAndNotesIt) {
  ScriptedDevice device([](int, const Program&, RunResult&) {});
  const Outcome outcome = run_case(kSpeed, device, {}, {.slow = 0.03});
  EXPECT_EQ(device.slow(), 0.03);
  ASSERT_FALSE(outcome.notes.empty());
  EXPECT_EQ(outcome.notes[0],
            "SLOWED ON PURPOSE by 3 %: what is measured here says nothing about the GPU");
}

TEST(RunCase, SlowsNothingButBenchmarks) {
  ScriptedDevice device([](int, const Program&, RunResult&) {});
  EXPECT_EQ(run_case(kThreeRows, device, {}, {.slow = 0.03}).judgement, Judgement::tool_error);
}

std::vector<Op> two_products(const RunContext&) {
  const Gemm gemm = whole_product({5, 7, 9}, GemmInputs::small_integers);
  return {gemm, gemm};
}

// Times right products, but leaves behind what `change` makes of that of each row, counted from 0.
class TimedDevice : public Device {
 public:
  using Change = std::function<void(int, RunResult&)>;
  explicit TimedDevice(Change change) : change_(std::move(change)) {}

  RunResult run(const Op& op) override { return virtual_->run(op); }
  std::vector<RunResult> run_programs(std::span<const Program> programs) override {
    return virtual_->run_programs(programs);
  }
  Measurement measure(const Op& op, const Timing&) override {
    Measurement measurement = virtual_->measure(op, {.warmups = 0, .samples = 2});
    change_(rows_++, measurement.last);
    return measurement;
  }

 private:
  std::unique_ptr<Device> virtual_ = make_device(DeviceKind::virtual_device);
  Change change_;
  int rows_ = 0;
};

constexpr Case kProducts{.name = "test.products",
                         .claim = "",
                         .cites = "",
                         .kind = CaseKind::benchmark,
                         .rows = two_products,
                         .metrics = duration};

TEST(RunCase, PassesABenchmarkWhoseLastSampleIsRight) {
  TimedDevice device([](int, RunResult&) {});
  const Outcome outcome = run_case(kProducts, device, {});
  EXPECT_EQ(outcome.judgement, Judgement::pass) << outcome.reason;
  EXPECT_EQ(outcome.metrics.size(), 2U);
}

TEST(RunCase, BenchmarkWithOneWrongLastSampleFailsAndPrintsNoNumber) {
  TimedDevice device([](int row, RunResult& last) {
    if (row == 1) last.bytes[4 * 8 + 3] ^= 0x80;  // C(1, 1)
  });
  const Outcome outcome = run_case(kProducts, device, {});
  EXPECT_EQ(outcome.judgement, Judgement::fail);
  EXPECT_EQ(outcome.reason.substr(0, 44), "after the last timed run, row 1: C(1, 1): ex");
  EXPECT_EQ(outcome.rows_run, 2U);
  EXPECT_EQ(outcome.rows_failed, 1U);
  EXPECT_TRUE(outcome.metrics.empty());
  ASSERT_EQ(outcome.miscompares.size(), 1U);
  EXPECT_EQ(outcome.miscompares[0].row, 1U);
  EXPECT_NE(outcome.miscompares[0].parameters, "");
}

TEST(RunCase, BenchmarkThatLeavesNothingToCompareFails) {
  TimedDevice device([](int, RunResult& last) { last = {}; });
  EXPECT_EQ(run_case(kProducts, device, {}).judgement, Judgement::fail);
}

// Of the catalogue: whole columns of what is timed are wrong, and no rate may say how fast.
TEST(RunCase, LocalSpeedFailsOnADeviceThatIsWrong) {
  const Case* which = case_named("gemm.local.speed");
  ASSERT_NE(which, nullptr);
  for (const char* fault : {"", "gemm_tile_unwritten"}) {
    const auto device = make_device(DeviceKind::virtual_device, fault_named(fault));
    const Outcome outcome = run_case(*which, *device, {.seed = 3});
    const bool wrong = fault_named(fault) != kNoFault;
    EXPECT_EQ(outcome.judgement, wrong ? Judgement::fail : Judgement::pass) << outcome.reason;
    EXPECT_EQ(outcome.metrics.empty(), wrong);
  }
}

TEST(RunCase, SkipsABenchmarkThatHasNothingToMeasure) {
  ScriptedDevice device([](int, const Program&, RunResult&) {});
  Case nothing = kSpeed;
  nothing.rows = no_rows;
  EXPECT_EQ(run_case(nothing, device, {}).judgement, Judgement::skip);
}

}  // namespace
}  // namespace tidemark
