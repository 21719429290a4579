// What is said of a program's results: against the oracle, and of two devices against each other.
#include "harness/replay/judged_program.hpp"

#include <gtest/gtest.h>

#include "harness/base/errors.hpp"
#include "suite/case.hpp"
#include "suite/runner.hpp"

namespace tidemark {
namespace {

/// A box of 256 bytes that is expected exactly.
PreparedProgram one_load() {
  TileLoad load;
  load.map = {
      .type = DataType::u8, .rank = 1, .extent = {700}, .box = {256}, .element_stride = {1}};
  load.at = {48};
  return prepared(program_of(ExpectTx{.load = load, .announced = 256}), "p.json");
}

ProgramEnd run_with(const PreparedProgram& program, const char* fault) {
  const auto device =
      make_device(DeviceKind::virtual_device, *fault == '\0' ? kNoFault : fault_named(fault));
  ProgramEnd end;
  end.result = device->run_programs({&program.checked, 1}).front();
  end.result.sms.clear();  // as the worker does
  return end;
}

ProgramEnd fault_of_kind(DeviceFault fault, std::int32_t code) {
  ProgramEnd end;
  end.result.fault = fault;
  end.result.code = code;
  return end;
}

TEST(ProgramVerdict, killed_from_outside_says_nothing) {
  const ProgramEnd end{.kind = ProgramEnd::Kind::killed, .result = {}, .reason = "r"};
  EXPECT_EQ(verdict_on(one_load(), end).code, ExitCode::incomplete);
}

TEST(ProgramVerdict, right_result_passes) {
  const PreparedProgram program = one_load();
  const DeviceVerdict verdict = verdict_on(program, run_with(program, ""));
  EXPECT_EQ(verdict.code, ExitCode::ok);
  EXPECT_EQ(verdict.word, "pass");
  EXPECT_EQ(verdict.findings, std::vector<std::string>{});
}

TEST(ProgramVerdict, wrong_result_fails_with_its_miscompares) {
  const PreparedProgram program = one_load();
  const DeviceVerdict verdict = verdict_on(program, run_with(program, "expect_parity_inverted"));
  EXPECT_EQ(verdict.code, ExitCode::failed);
  EXPECT_EQ(verdict.word, "FAIL");
  // The meter does not settle; then what is wrong in the order of its steps.
  ASSERT_GT(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.claim, "a wait ended by its bound");
  EXPECT_EQ(verdict.findings[1],
            "barrier: test: step 3 (test on barrier 0, parity 0): expected not complete, got "
            "complete");
}

TEST(ProgramVerdict, sticky_error_fails_with_its_code) {
  const DeviceVerdict verdict =
      verdict_on(one_load(), fault_of_kind(DeviceFault::sticky, kIllegalAddress));
  EXPECT_EQ(verdict.code, ExitCode::failed);
  EXPECT_EQ(verdict.word, "STICKY");
  EXPECT_EQ(verdict.claim, "CUDA error 700");
}

TEST(ProgramVerdict, unsupported_program_is_no_pass) {
  const DeviceVerdict verdict =
      verdict_on(one_load(), fault_of_kind(DeviceFault::unsupported, 912));
  EXPECT_EQ(verdict.code, ExitCode::environment);
  EXPECT_EQ(verdict.word, "SKIP");
}

TEST(ProgramVerdict, truncated_result_fails) {
  const PreparedProgram program = one_load();
  ProgramEnd end = run_with(program, "");
  end.result.trace.pop_back();
  EXPECT_EQ(verdict_on(program, end).code, ExitCode::failed);
}

TEST(ProgramVerdict, behaviour_unlike_the_measured_one_fails) {
  PreparedProgram program = one_load();
  program.unlike_measured = [](const RunResult&) {
    Miscompare wrong;
    wrong.what = "measured";
    wrong.text = "another NaN";
    return std::vector<Miscompare>{wrong};
  };
  const DeviceVerdict verdict = verdict_on(program, run_with(program, ""));
  EXPECT_EQ(verdict.code, ExitCode::failed);
  EXPECT_EQ(verdict.findings, std::vector<std::string>{"measured: another NaN"});
}

TEST(ProgramDifference, equal_results_have_none) {
  const PreparedProgram program = one_load();
  EXPECT_EQ(difference_of(program, run_with(program, "").result, run_with(program, "").result), "");
}

TEST(ProgramDifference, names_the_first_byte_and_counts_all) {
  const PreparedProgram program = one_load();
  const RunResult right = run_with(program, "").result;
  RunResult wrong = right;
  wrong.bytes[5] ^= 1U;
  wrong.bytes[9] ^= 1U;
  const std::string difference = difference_of(program, right, wrong);
  EXPECT_EQ(difference.find("differ in 2 bytes, first byte 5 of the snapshot of step "), 0U)
      << difference;
}

TEST(ProgramDifference, names_the_first_observation) {
  const PreparedProgram program = one_load();
  const RunResult right = run_with(program, "").result;
  const RunResult wrong = run_with(program, "expect_parity_inverted").result;
  const std::string difference = difference_of(program, right, wrong);
  EXPECT_NE(difference.find("first step 3 (test), CTA 0"), std::string::npos) << difference;
}

TEST(ProgramDifference, observations_that_are_open_do_not_count) {
  PreparedProgram program = one_load();
  const RunResult right = run_with(program, "").result;
  RunResult other = right;
  other.trace[3] ^= 1U;
  EXPECT_NE(difference_of(program, right, other), "");
  program.expected.trace[3].judged = 0;
  EXPECT_EQ(difference_of(program, right, other), "");
}

TEST(ProgramText, a_gpu_that_differs_stands_beside_the_virtual_device) {
  const PreparedProgram program = one_load();
  const std::vector<DeviceRun> runs = {{.device = "GPU-5f1c2d3e NVIDIA H200",
                                        .kind = DeviceKind::cuda,
                                        .end = run_with(program, "expect_parity_inverted")},
                                       {.device = "virtual device", .end = run_with(program, "")}};
  const JudgedText judged = judged_text(program, runs, false, 100);
  EXPECT_EQ(judged.code, ExitCode::failed);
  EXPECT_EQ(judged.text.find("FAIL    GPU-5f1c2d3e NVIDIA H200   "), 0U) << judged.text;
  EXPECT_NE(judged.text.find("\npass    virtual device             agrees with the oracle\n"),
            std::string::npos)
      << judged.text;
  EXPECT_NE(judged.text.find("\nGPU-5f1c2d3e NVIDIA H200 and virtual device: differ in "),
            std::string::npos)
      << judged.text;
  EXPECT_TRUE(judged.text.ends_with("\nRESULT: FAIL\n")) << judged.text;
}

TEST(ProgramText, result_of_the_virtual_device_alone_says_so) {
  const PreparedProgram program = one_load();
  const JudgedText judged = judged_text(
      program, {{.device = "virtual device", .end = run_with(program, "")}}, false, 100);
  EXPECT_EQ(judged.code, ExitCode::ok);
  EXPECT_TRUE(
      judged.text.ends_with("\nRESULT: PASS  (VIRTUAL device: nothing here ran on a GPU)\n"))
      << judged.text;
}

TEST(PreparedPrograms, every_program_of_the_suite_can_be_replayed) {
  std::size_t programs = 0;
  for (const Case& which : all_cases()) {
    if (which.scope != CaseScope::one_gpu || which.rows == nullptr) continue;
    if (which.expected_error != nullptr) continue;  // what ends in an error has no prediction
    const std::uint64_t seed = case_seed(7, which.name);
    const std::vector<Op> rows = which.rows({.seed = seed});
    for (std::uint32_t row = 0; row < rows.size(); ++row) {
      const Op op = seeded(rows[row], seed, row);
      std::visit(
          [&](const auto& made) {
            if constexpr (requires { program_of(made); }) {
              if (!is_program(op)) return;
              ++programs;
              EXPECT_NO_THROW(prepared(program_of(made), std::string(which.name))) << row;
            }
          },
          op);
    }
  }
  EXPECT_GT(programs, 0U);
}

}  // namespace
}  // namespace tidemark
