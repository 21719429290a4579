// Cases that are to end in an error of the device, and what else may come in its place.
#include <gtest/gtest.h>

#include "suite/runner.hpp"
#include "suite/testing/scripted_device.hpp"

namespace tidemark {
namespace {

constexpr Case kEndsIn716{
    .name = "test.ends_in_716",
    .claim = "none",
    .cites = "none",
    .rows = [](const RunContext&) { return std::vector<Op>{small_load()}; },
    .expected_error =
        [](std::uint32_t) { return ExpectedError{.code = 716, .copy = "a load to nowhere"}; }};

constexpr RunCaseOptions kItsRow{.only_row = 0};

TEST(RunCase, PassesWhereTheExpectedErrorCameAndSaysThatTheDeviceIsSpent) {
  ScriptedDevice device(
      [](int, const Program&, RunResult& result) { result = faulted(DeviceFault::sticky, 716); });
  const Outcome outcome = run_case(kEndsIn716, device, {}, kItsRow);
  EXPECT_EQ(outcome.judgement, Judgement::pass);
  EXPECT_EQ(outcome.reason, "");
  EXPECT_TRUE(outcome.device_spent);
  EXPECT_EQ(outcome.cuda_error, 716);
  EXPECT_EQ(outcome.rows_planned, 1U);
  EXPECT_EQ(outcome.rows_run, 1U);
  EXPECT_EQ(outcome.rows_failed, 0U);
  EXPECT_TRUE(outcome.miscompares.empty());
  ASSERT_EQ(outcome.notes.size(), 1U);
  EXPECT_EQ(outcome.notes[0],
            "row 0, a load to nowhere: ended in CUDA error 716 (misaligned address), as predicted");
  EXPECT_EQ(device.runs(), 1);
}

TEST(RunCase, FailsWhereAnotherErrorCame) {
  ScriptedDevice device([](int, const Program&, RunResult& result) {
    result = faulted(DeviceFault::sticky, 719);
    result.note = "as told";
  });
  const Outcome outcome = run_case(kEndsIn716, device, {}, kItsRow);
  EXPECT_EQ(outcome.judgement, Judgement::fail);
  EXPECT_TRUE(outcome.device_spent);
  EXPECT_EQ(outcome.cuda_error, 719);
  EXPECT_EQ(outcome.rows_failed, 1U);
  ASSERT_EQ(outcome.miscompares.size(), 1U);
  EXPECT_EQ(outcome.miscompares[0].what, "error");
  EXPECT_EQ(outcome.miscompares[0].expected, 716U);
  EXPECT_EQ(outcome.miscompares[0].actual, 719U);
  EXPECT_EQ(outcome.miscompares[0].parameters, parameters_of(seeded(small_load(), 0, 0)));
  EXPECT_EQ(outcome.reason,
            "row 0, a load to nowhere: expected CUDA error 716 (misaligned address), got CUDA "
            "error 719 (unspecified "
            "launch failure): as told");
}

TEST(RunCase, FailsWhereTheExpectedErrorDidNotComeAndSparesTheDevice) {
  ScriptedDevice device([](int, const Program&, RunResult&) {});
  const Outcome outcome = run_case(kEndsIn716, device, {}, kItsRow);
  EXPECT_EQ(outcome.judgement, Judgement::fail);
  EXPECT_FALSE(outcome.device_spent);
  EXPECT_EQ(outcome.cuda_error, 0);
  EXPECT_EQ(outcome.reason,
            "row 0, a load to nowhere: expected CUDA error 716 (misaligned address), the operation "
            "ended without any");
  EXPECT_EQ(device.runs(), 1);
}

TEST(RunCase, ATimeOutInThePlaceOfTheExpectedErrorIsAFail) {
  ScriptedDevice device([](int, const Program&, RunResult& result) {
    result = faulted(DeviceFault::timeout, 0);  // and no bytes: a kernel that never ended
  });
  const Outcome outcome = run_case(kEndsIn716, device, {}, kItsRow);
  EXPECT_EQ(outcome.judgement, Judgement::fail);
  EXPECT_TRUE(outcome.device_spent);
  ASSERT_EQ(outcome.miscompares.size(), 1U);
  EXPECT_EQ(outcome.miscompares[0].actual, 0U);
  EXPECT_EQ(outcome.reason,
            "row 0, a load to nowhere: expected CUDA error 716 (misaligned address), none came, "
            "and a bounded wait "
            "ended by its bound");
}

TEST(RunCase, ARefusedMapInThePlaceOfTheExpectedErrorIsAFail) {
  ScriptedDevice device([](int, const Program&, RunResult& result) {
    result = faulted(DeviceFault::encode_refused, 716);  // a CUresult, and not that error
  });
  const Outcome outcome = run_case(kEndsIn716, device, {}, kItsRow);
  EXPECT_EQ(outcome.judgement, Judgement::fail);
  ASSERT_EQ(outcome.miscompares.size(), 1U);
  EXPECT_EQ(outcome.miscompares[0].actual, 0U);
  EXPECT_FALSE(outcome.device_spent);
}

TEST(RunCase, RowsThatEndInErrorsAreRefusedInOneProcess) {
  Case three = kEndsIn716;
  three.rows = three_rows;
  ScriptedDevice device(
      [](int, const Program&, RunResult& result) { result = faulted(DeviceFault::sticky, 716); });
  const Outcome outcome = run_case(three, device, {});
  EXPECT_EQ(outcome.judgement, Judgement::tool_error);
  EXPECT_NE(outcome.reason.find("needs a process of its own"), std::string::npos);
  EXPECT_EQ(device.runs(), 0);
}

}  // namespace
}  // namespace tidemark
