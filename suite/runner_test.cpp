// The runner's verdicts on devices that are told what to answer.
#include "suite/runner.hpp"

#include <functional>
#include <memory>

#include <gtest/gtest.h>

#include "kernels/error.hpp"
#include "suite/case.hpp"
#include "suite/oracle/expectation.hpp"

namespace tidemark {
namespace {

TileLoad small_load() {
  TileLoad load;
  load.map.extent = {64, 5};
  load.map.stride = {80};
  load.map.box = {32, 3};
  return load;
}

std::vector<Op> three_rows(const RunContext&) { return {small_load(), small_load(), small_load()}; }

constexpr Case kThreeRows{
    .name = "test.three", .claim = "none", .cites = "none", .rows = three_rows};

RunResult right_answer(const Op& op) {
  const Expectation expected = predict(std::get<TileLoad>(op));
  RunResult result;
  result.bytes = expected.bytes;
  result.surroundings = expected.surroundings;
  result.later.assign(kLaterCopies, expected.bytes);
  result.ledger = expected.ledger;
  return result;
}

RunResult faulted(DeviceFault fault, std::int32_t code) {
  RunResult result;
  result.fault = fault;
  result.code = code;
  return result;
}

// Answers right, after `change` has had its way with the answer to each run, counted from 0.
class ScriptedDevice : public Device {
 public:
  using Change = std::function<void(int, const TileLoad&, RunResult&)>;
  explicit ScriptedDevice(Change change) : change_(std::move(change)) {}

  RunResult run(const Op& op) override {
    RunResult result = right_answer(op);
    change_(runs_++, std::get<TileLoad>(op), result);
    return result;
  }

  Measurement measure(const Op&, const Timing& timing) override {
    slow_ = timing.slow;
    Measurement measurement;
    measurement.samples.assign(timing.samples, TimedSample{.total_ns = 2000});
    return measurement;
  }

  int runs() const { return runs_; }
  double slow() const { return slow_; }  // of the last measurement

 private:
  Change change_;
  int runs_ = 0;
  double slow_ = 0;
};

TEST(RunCase, PassesWhereEveryRowIsRight) {
  ScriptedDevice device([](int, const TileLoad&, RunResult&) {});
  const Outcome outcome = run_case(kThreeRows, device, {});
  EXPECT_EQ(outcome.judgement, Judgement::pass);
  EXPECT_EQ(outcome.reason, "");
  EXPECT_EQ(outcome.rows_planned, 3U);
  EXPECT_EQ(outcome.rows_run, 3U);
  EXPECT_EQ(outcome.rows_failed, 0U);
}

TEST(RunCase, RunsEachRowWithBothPayloadsOfOneSeed) {
  std::vector<Payload> seen;
  ScriptedDevice device(
      [&](int, const TileLoad& load, RunResult&) { seen.push_back(load.payload); });
  run_case(kThreeRows, device, {.seed = 11});
  ASSERT_EQ(seen.size(), 6U);
  EXPECT_EQ(seen[0].seed, seen[1].seed);
  EXPECT_FALSE(seen[0].inverted);
  EXPECT_TRUE(seen[1].inverted);
  EXPECT_NE(seen[0].seed, seen[2].seed);
}

TEST(RunCase, FailsOnAByteThatIsWrongOnlyUnderTheInvertedPayload) {
  ScriptedDevice device([](int, const TileLoad& load, RunResult& result) {
    if (load.payload.inverted) result.bytes[1030] ^= 1;
  });
  const Outcome outcome = run_case(kThreeRows, device, {});
  EXPECT_EQ(outcome.judgement, Judgement::fail);
  EXPECT_EQ(outcome.rows_failed, 3U);
}

TEST(RunCase, GivesOneRowTheSeedItHasAmongAll) {
  std::vector<Payload> all, alone;
  ScriptedDevice first([&](int, const TileLoad& l, RunResult&) { all.push_back(l.payload); });
  ScriptedDevice second([&](int, const TileLoad& l, RunResult&) { alone.push_back(l.payload); });
  run_case(kThreeRows, first, {.seed = 5});
  const Outcome outcome = run_case(kThreeRows, second, {.seed = 5}, {.only_row = 2});
  ASSERT_EQ(alone.size(), 2U);
  EXPECT_EQ(alone[0].seed, all[4].seed);
  EXPECT_EQ(outcome.rows_planned, 1U);
}

TEST(RunCase, SaysThatAnAskedRowDoesNotExist) {
  ScriptedDevice device([](int, const TileLoad&, RunResult&) {});
  const Outcome outcome = run_case(kThreeRows, device, {}, {.only_row = 3});
  EXPECT_EQ(outcome.judgement, Judgement::tool_error);
  EXPECT_NE(outcome.reason.find("row 3 does not exist"), std::string::npos) << outcome.reason;
}

TEST(RunCase, SkipsACaseThatTheGpuCannotStart) {
  ScriptedDevice device([](int, const TileLoad&, RunResult& result) {
    result = faulted(DeviceFault::unsupported, 0);
    result.note = "fits nowhere";
  });
  const Outcome outcome = run_case(kThreeRows, device, {});
  EXPECT_EQ(outcome.judgement, Judgement::skip);
  EXPECT_NE(outcome.reason.find("fits nowhere"), std::string::npos) << outcome.reason;
  EXPECT_EQ(outcome.rows_planned, 3U);
  EXPECT_EQ(outcome.rows_run, 0U);
  EXPECT_EQ(outcome.rows_failed, 0U);
  EXPECT_TRUE(outcome.miscompares.empty());
}

TEST(RunCase, DoesNotPassWhereOneRowCannotBeStarted) {
  ScriptedDevice device([](int run, const TileLoad&, RunResult& result) {
    if (run == 2) result = faulted(DeviceFault::unsupported, 0);  // the first run of row 1
  });
  const Outcome outcome = run_case(kThreeRows, device, {});
  EXPECT_EQ(outcome.judgement, Judgement::skip);
  EXPECT_EQ(outcome.rows_run, 2U);
}

TEST(RunCase, ARowThatCannotBeStartedHidesNoFailure) {
  ScriptedDevice device([](int run, const TileLoad&, RunResult& result) {
    if (run == 0) result = faulted(DeviceFault::unsupported, 0);
    if (run == 1) result.bytes[1024] ^= 1;  // the first run of row 1
  });
  const Outcome outcome = run_case(kThreeRows, device, {});
  EXPECT_EQ(outcome.judgement, Judgement::fail);
  EXPECT_EQ(outcome.rows_failed, 1U);
  EXPECT_EQ(outcome.reason.substr(0, 6), "row 1:");
}

TEST(RunCase, NamesRowAndParametersOfAWrongByte) {
  ScriptedDevice device([](int run, const TileLoad&, RunResult& result) {
    if (run == 2) result.bytes[1024] ^= 1;
  });
  const Outcome outcome = run_case(kThreeRows, device, {});
  EXPECT_EQ(outcome.rows_failed, 1U);
  EXPECT_EQ(outcome.rows_run, 3U);
  ASSERT_EQ(outcome.miscompares.size(), 1U);
  EXPECT_EQ(outcome.miscompares[0].row, 1U);
  EXPECT_NE(outcome.miscompares[0].parameters.find("\"box\":[32,3]"), std::string::npos);
  EXPECT_EQ(outcome.reason.substr(0, 6), "row 1:");
}

std::vector<Op> forty_rows(const RunContext&) { return std::vector<Op>(40, small_load()); }

TEST(RunCase, CountsAllWrongRowsAndKeepsTheFirstSixteenMiscompares) {
  ScriptedDevice device([](int, const TileLoad&, RunResult& result) { result.bytes[0] ^= 1; });
  const Case many{.name = "test.many", .claim = "", .cites = "", .rows = forty_rows};
  const Outcome outcome = run_case(many, device, {});
  EXPECT_EQ(outcome.rows_failed, 40U);
  EXPECT_EQ(outcome.miscompares.size(), 16U);
}

// Says that the row's 17 should have been 16, wherever the payload is inverted.
std::vector<Miscompare> unlike_measured(const Op& op, const RunResult&) {
  if (!std::get<TileLoad>(op).payload.inverted) return {};
  Miscompare found;
  found.what = "behaviour";
  found.expected = 16;
  found.actual = 17;
  found.text = "17 where 16 was measured";
  return {found};
}

constexpr Case kMeasured{.name = "test.measured",
                         .claim = "none",
                         .cites = "none",
                         .rows = three_rows,
                         .unlike_measured = unlike_measured};

TEST(RunCase, HoldsRightRowsAgainstWhatWasMeasured) {
  ScriptedDevice device([](int, const TileLoad&, RunResult&) {});
  const Outcome outcome = run_case(kMeasured, device, {.seed = 5});
  EXPECT_EQ(outcome.judgement, Judgement::fail);
  EXPECT_EQ(outcome.reason, "row 0: 17 where 16 was measured");
  EXPECT_EQ(outcome.rows_failed, 3U);
  ASSERT_EQ(outcome.miscompares.size(), 3U);
  EXPECT_EQ(outcome.miscompares[2].row, 2U);
  EXPECT_EQ(outcome.miscompares[2].what, "behaviour");
}

TEST(RunCase, DoesNotHoldAWrongRowAgainstWhatWasMeasured) {
  ScriptedDevice device([](int, const TileLoad&, RunResult& result) { result.bytes[0] ^= 1; });
  const Outcome outcome = run_case(kMeasured, device, {.seed = 5});
  ASSERT_EQ(outcome.miscompares.size(), 3U);
  EXPECT_EQ(outcome.miscompares[0].what, "guard");
}

TEST(RunCase, TakesARefusedMapForAWrongRow) {
  ScriptedDevice device([](int run, const TileLoad&, RunResult& result) {
    if (run == 0) result = faulted(DeviceFault::encode_refused, 1);
  });
  const Outcome outcome = run_case(kThreeRows, device, {});
  EXPECT_EQ(outcome.judgement, Judgement::fail);
  EXPECT_EQ(outcome.rows_run, 3U);
  EXPECT_EQ(outcome.rows_failed, 1U);
  ASSERT_EQ(outcome.miscompares.size(), 1U);
  EXPECT_EQ(outcome.miscompares[0].what, "encode");
}

TEST(RunCase, CallsATimeoutATimeoutAndGoesOn) {
  ScriptedDevice device([](int run, const TileLoad&, RunResult& result) {
    if (run != 0) return;
    result.fault = DeviceFault::timeout;
    result.ledger.complete = false;
  });
  const Outcome outcome = run_case(kThreeRows, device, {});
  EXPECT_EQ(outcome.judgement, Judgement::timeout);
  EXPECT_EQ(outcome.rows_run, 3U);
  ASSERT_EQ(outcome.miscompares.size(), 2U);
  EXPECT_EQ(outcome.miscompares[1].what, "barrier: complete");
}

TEST(RunCase, StopsAtAStickyFault) {
  ScriptedDevice device([](int run, const TileLoad&, RunResult& result) {
    if (run == 2) result = faulted(DeviceFault::sticky, 715);
  });
  const Outcome outcome = run_case(kThreeRows, device, {});
  EXPECT_EQ(outcome.judgement, Judgement::sticky);
  EXPECT_EQ(outcome.cuda_error, 715);
  EXPECT_TRUE(outcome.device_spent);
  EXPECT_EQ(outcome.rows_planned, 3U);
  EXPECT_EQ(outcome.rows_run, 2U);
  EXPECT_EQ(device.runs(), 3);
}

constexpr Case kEndsIn716{.name = "test.ends_in_716",
                          .claim = "none",
                          .cites = "none",
                          .rows = [](const RunContext&) { return std::vector<Op>{small_load()}; },
                          .expected_error = 716};

TEST(RunCase, PassesWhereTheExpectedErrorCameAndSaysThatTheDeviceIsSpent) {
  ScriptedDevice device(
      [](int, const TileLoad&, RunResult& result) { result = faulted(DeviceFault::sticky, 716); });
  const Outcome outcome = run_case(kEndsIn716, device, {});
  EXPECT_EQ(outcome.judgement, Judgement::pass);
  EXPECT_EQ(outcome.reason, "");
  EXPECT_TRUE(outcome.device_spent);
  EXPECT_EQ(outcome.cuda_error, 716);
  EXPECT_EQ(outcome.rows_planned, 1U);
  EXPECT_EQ(outcome.rows_run, 1U);
  EXPECT_EQ(outcome.rows_failed, 0U);
  EXPECT_TRUE(outcome.miscompares.empty());
  ASSERT_EQ(outcome.notes.size(), 1U);
  EXPECT_EQ(outcome.notes[0], "ended in CUDA error 716 (misaligned address), as predicted");
  EXPECT_EQ(device.runs(), 1);
}

TEST(RunCase, FailsWhereAnotherErrorCame) {
  ScriptedDevice device([](int, const TileLoad&, RunResult& result) {
    result = faulted(DeviceFault::sticky, 719);
    result.note = "as told";
  });
  const Outcome outcome = run_case(kEndsIn716, device, {});
  EXPECT_EQ(outcome.judgement, Judgement::fail);
  EXPECT_TRUE(outcome.device_spent);
  EXPECT_EQ(outcome.cuda_error, 719);
  EXPECT_EQ(outcome.rows_failed, 1U);
  ASSERT_EQ(outcome.miscompares.size(), 1U);
  EXPECT_EQ(outcome.miscompares[0].what, "error");
  EXPECT_EQ(outcome.miscompares[0].expected, 716U);
  EXPECT_EQ(outcome.miscompares[0].actual, 719U);
  EXPECT_EQ(outcome.miscompares[0].parameters, describe(seeded(small_load(), 0, 0)));
  EXPECT_EQ(outcome.reason,
            "row 0: expected CUDA error 716 (misaligned address), got CUDA error 719 (unspecified "
            "launch failure): as told");
}

TEST(RunCase, FailsWhereTheExpectedErrorDidNotComeAndSparesTheDevice) {
  ScriptedDevice device([](int, const TileLoad&, RunResult&) {});
  const Outcome outcome = run_case(kEndsIn716, device, {});
  EXPECT_EQ(outcome.judgement, Judgement::fail);
  EXPECT_FALSE(outcome.device_spent);
  EXPECT_EQ(outcome.cuda_error, 0);
  EXPECT_EQ(outcome.reason,
            "row 0: expected CUDA error 716 (misaligned address), the operation ended without any");
  EXPECT_EQ(device.runs(), 1);
}

TEST(RunCase, ATimeOutInThePlaceOfTheExpectedErrorIsAFail) {
  ScriptedDevice device([](int, const TileLoad&, RunResult& result) {
    result = faulted(DeviceFault::timeout, 0);  // and no bytes: a kernel that never ended
  });
  const Outcome outcome = run_case(kEndsIn716, device, {});
  EXPECT_EQ(outcome.judgement, Judgement::fail);
  EXPECT_TRUE(outcome.device_spent);
  ASSERT_EQ(outcome.miscompares.size(), 1U);
  EXPECT_EQ(outcome.miscompares[0].actual, 0U);
  EXPECT_EQ(outcome.reason,
            "row 0: expected CUDA error 716 (misaligned address), none came, and a bounded wait "
            "ended by its bound");
}

TEST(RunCase, ARefusedMapInThePlaceOfTheExpectedErrorIsAFail) {
  ScriptedDevice device([](int, const TileLoad&, RunResult& result) {
    result = faulted(DeviceFault::encode_refused, 716);  // a CUresult, and not that error
  });
  const Outcome outcome = run_case(kEndsIn716, device, {});
  EXPECT_EQ(outcome.judgement, Judgement::fail);
  ASSERT_EQ(outcome.miscompares.size(), 1U);
  EXPECT_EQ(outcome.miscompares[0].actual, 0U);
  EXPECT_FALSE(outcome.device_spent);
}

TEST(RunCase, ACaseThatEndsInAnErrorHasOneRow) {
  Case three = kEndsIn716;
  three.rows = three_rows;
  ScriptedDevice device(
      [](int, const TileLoad&, RunResult& result) { result = faulted(DeviceFault::sticky, 716); });
  const Outcome outcome = run_case(three, device, {});
  EXPECT_EQ(outcome.judgement, Judgement::tool_error);
  EXPECT_NE(outcome.reason.find("has one row, and this has 3"), std::string::npos);
  EXPECT_EQ(device.runs(), 0);
}

TEST(RunCase, LetsTheGravestRowSpeak) {
  ScriptedDevice device([](int run, const TileLoad&, RunResult& result) {
    if (run == 0) result.bytes[0] ^= 1;
    if (run == 1) result.fault = DeviceFault::timeout;
    if (run == 3) result.bytes[0] ^= 1;
  });
  EXPECT_EQ(run_case(kThreeRows, device, {}).judgement, Judgement::timeout);
}

TEST(RunCase, TurnsAnErrorIntoAToolError) {
  ScriptedDevice device([](int run, const TileLoad&, RunResult&) {
    if (run == 2) throw Error("out of memory");
  });
  const Outcome outcome = run_case(kThreeRows, device, {});
  EXPECT_EQ(outcome.judgement, Judgement::tool_error);
  EXPECT_EQ(outcome.rows_run, 1U);
  EXPECT_NE(outcome.reason.find("out of memory (runner_test.cpp:"), std::string::npos)
      << outcome.reason;
}

std::vector<Op> no_rows(const RunContext&) { return {}; }

TEST(RunCase, DoesNotPassAClaimWithoutRows) {
  ScriptedDevice device([](int, const TileLoad&, RunResult&) {});
  const Case empty{.name = "test.empty", .claim = "", .cites = "", .rows = no_rows};
  EXPECT_EQ(run_case(empty, device, {}).judgement, Judgement::tool_error);
}

TEST(RunCase, KeepsEachNoteOnce) {
  ScriptedDevice device([](int run, const TileLoad&, RunResult& result) {
    result.note = run < 4 ? "padded rows" : "fast engine";
  });
  const Outcome outcome = run_case(kThreeRows, device, {});
  EXPECT_EQ(outcome.notes, (std::vector<std::string>{"padded rows", "fast engine"}));
}

// The digest where byte `index` of the map of row 1 is `value`.
std::uint64_t descriptors_with(std::size_t index, std::uint8_t value) {
  ScriptedDevice device([&](int run, const TileLoad&, RunResult& result) {
    result.descriptor[127] = 7;
    if (run / 2 == 1) result.descriptor[index] = value;
  });
  return run_case(kThreeRows, device, {}).descriptors;
}

TEST(RunCase, DigestsTheDescriptorsOfAllRows) {
  EXPECT_NE(descriptors_with(8, 1), 0U);
  EXPECT_NE(descriptors_with(8, 1), descriptors_with(8, 2));
  EXPECT_EQ(descriptors_with(8, 1), descriptors_with(8, 1));
}

TEST(RunCase, LeavesTheAddressOutOfTheDigest) {
  EXPECT_EQ(descriptors_with(7, 1), descriptors_with(7, 2));
}

TEST(RunCase, DigestIsZeroWhereNoMapWasEncoded) {
  ScriptedDevice device([](int, const TileLoad&, RunResult&) {});
  EXPECT_EQ(run_case(kThreeRows, device, {}).descriptors, 0U);
}

TEST(RunCase, TellsProgressAfterEachRow) {
  ScriptedDevice device([](int, const TileLoad&, RunResult&) {});
  std::vector<std::uint32_t> told;
  const auto tell = [](void* to, std::uint32_t done, std::uint32_t rows) {
    static_cast<std::vector<std::uint32_t>*>(to)->push_back(done * 10 + rows);
  };
  run_case(kThreeRows, device, {}, {.progress = tell, .progress_arg = &told});
  EXPECT_EQ(told, (std::vector<std::uint32_t>{13, 23, 33}));
}

std::vector<Metric> duration(const Op&, const Measurement& measurement) {
  return {{.name = "time",
           .unit = "ns",
           .higher_is_better = false,
           .values = {measurement.samples.front().total_ns},
           .at_unix_s = {},
           .seconds = {}}};
}

TEST(RunCase, MeasuresABenchmark) {
  ScriptedDevice device([](int, const TileLoad&, RunResult&) {});
  const Case benchmark{.name = "test.speed",
                       .claim = "",
                       .cites = "",
                       .kind = CaseKind::benchmark,
                       .rows = three_rows,
                       .metrics = duration};
  const Outcome outcome = run_case(benchmark, device, {});
  EXPECT_EQ(outcome.judgement, Judgement::pass);
  EXPECT_EQ(device.slow(), 0);
  ASSERT_EQ(outcome.metrics.size(), 3U);
  EXPECT_EQ(outcome.metrics[0].values, std::vector<double>{2000});
  EXPECT_EQ(device.runs(), 0);
}

constexpr Case kSpeed{.name = "test.speed",
                      .claim = "",
                      .cites = "",
                      .kind = CaseKind::benchmark,
                      .rows = three_rows,
                      .metrics = duration};

TEST(RunCase, TellsTheDeviceToSlowABenchmarkAndNotesIt) {
  ScriptedDevice device([](int, const TileLoad&, RunResult&) {});
  const Outcome outcome = run_case(kSpeed, device, {}, {.slow = 0.03});
  EXPECT_EQ(device.slow(), 0.03);
  ASSERT_FALSE(outcome.notes.empty());
  EXPECT_EQ(outcome.notes[0],
            "SLOWED ON PURPOSE by 3 %: what is measured here says nothing about the GPU");
}

TEST(RunCase, SlowsNothingButBenchmarks) {
  ScriptedDevice device([](int, const TileLoad&, RunResult&) {});
  EXPECT_EQ(run_case(kThreeRows, device, {}, {.slow = 0.03}).judgement, Judgement::tool_error);
}

std::vector<Op> two_products(const RunContext&) {
  const Gemm gemm{
      .m = 5, .n = 7, .k = 9, .rows = {0, 5}, .cols = {0, 7}, .inputs = GemmInputs::small_integers};
  return {gemm, gemm};
}

// Times right products, but leaves behind what `change` makes of that of each row, counted from 0.
class TimedDevice : public Device {
 public:
  using Change = std::function<void(int, RunResult&)>;
  explicit TimedDevice(Change change) : change_(std::move(change)) {}

  RunResult run(const Op& op) override { return virtual_->run(op); }
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
  ScriptedDevice device([](int, const TileLoad&, RunResult&) {});
  const Case benchmark{.name = "test.speed",
                       .claim = "",
                       .cites = "",
                       .kind = CaseKind::benchmark,
                       .rows = no_rows,
                       .metrics = duration};
  EXPECT_EQ(run_case(benchmark, device, {}).judgement, Judgement::skip);
}

TEST(Seeded, DependsOnCaseSeedAndRowAlone) {
  const auto seed_of = [](std::uint64_t seed, std::uint32_t row) {
    return std::get<TileLoad>(seeded(small_load(), seed, row)).payload.seed;
  };
  EXPECT_EQ(seed_of(1, 2), seed_of(1, 2));
  EXPECT_NE(seed_of(1, 2), seed_of(1, 3));
  EXPECT_NE(seed_of(1, 2), seed_of(2, 2));
}

TEST(Seeded, GivesGemmsTheirSeed) {
  const Op op = seeded(Gemm{}, 9, 0);
  EXPECT_NE(std::get<Gemm>(op).seed, 0U);
  EXPECT_EQ(runs_of(op), 1U);
}

ExpectTx mismatch(std::uint32_t announced) {
  ExpectTx op;
  op.load = small_load();  // 96 bytes
  op.announced = announced;
  return op;
}

std::vector<Op> two_mismatches(const RunContext&) { return {mismatch(112), mismatch(80)}; }

TEST(RunCase, SaysWhichMismatchesWereDetectedThoughTheyArePasses) {
  const Case two{.name = "test.two", .claim = "", .cites = "", .rows = two_mismatches};
  const auto device = make_device(DeviceKind::virtual_device);
  const Outcome outcome = run_case(two, *device, {});
  EXPECT_EQ(outcome.judgement, Judgement::pass) << outcome.reason;
  ASSERT_EQ(outcome.notes.size(), 2U);
  EXPECT_EQ(outcome.notes[0].substr(0, 48), "96-byte box under-announced: completed early at ");
  EXPECT_EQ(outcome.notes[1], "over-announced by 16 of 96 bytes: did not complete");
}

}  // namespace
}  // namespace tidemark
