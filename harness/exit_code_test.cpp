// One test for each row of the exit-code table, and for what goes first when several hold.
#include "harness/exit_code.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>
#include <vector>

namespace tidemark {
namespace {

VerdictCounts counts_of(std::initializer_list<std::pair<Verdict, std::uint64_t>> given) {
  VerdictCounts counts{};
  for (const auto& [verdict, count] : given) counts[static_cast<std::size_t>(verdict)] = count;
  return counts;
}

ExitCode code_of(std::initializer_list<std::pair<Verdict, std::uint64_t>> given,
                 bool strict = false) {
  std::uint64_t planned = 0;
  for (const auto& [verdict, count] : given) planned += count;
  return exit_code(counts_of(given), planned, true, strict);
}

TEST(ExitCode, passes_waivers_and_skips_are_ok) {
  EXPECT_EQ(code_of({{Verdict::pass, 1}, {Verdict::waived, 2}, {Verdict::skip, 3}}), ExitCode::ok);
}

TEST(ExitCode, each_verdict_against_the_gpu_is_failed) {
  EXPECT_EQ(code_of({{Verdict::pass, 9}, {Verdict::fail, 1}}), ExitCode::failed);
  EXPECT_EQ(code_of({{Verdict::pass, 9}, {Verdict::flaky, 1}}), ExitCode::failed);
  EXPECT_EQ(code_of({{Verdict::pass, 9}, {Verdict::hang, 1}}), ExitCode::failed);
  EXPECT_EQ(code_of({{Verdict::pass, 9}, {Verdict::crash, 1}}), ExitCode::failed);
  EXPECT_EQ(code_of({{Verdict::pass, 9}, {Verdict::sticky, 1}}), ExitCode::failed);
}

TEST(ExitCode, unexpected_pass_fails_only_with_strict) {
  EXPECT_EQ(code_of({{Verdict::pass, 9}, {Verdict::unexpected_pass, 1}}, false), ExitCode::ok);
  EXPECT_EQ(code_of({{Verdict::pass, 9}, {Verdict::unexpected_pass, 1}}, true), ExitCode::failed);
}

TEST(ExitCode, each_verdict_without_an_answer_is_incomplete) {
  EXPECT_EQ(code_of({{Verdict::pass, 9}, {Verdict::not_run, 1}}), ExitCode::incomplete);
  EXPECT_EQ(code_of({{Verdict::pass, 9}, {Verdict::gpu_lost, 1}}), ExitCode::incomplete);
  EXPECT_EQ(code_of({{Verdict::pass, 9}, {Verdict::unkillable, 1}}), ExitCode::incomplete);
  EXPECT_EQ(code_of({{Verdict::pass, 9}, {Verdict::tool_error, 1}}), ExitCode::incomplete);
}

TEST(ExitCode, an_incomplete_report_is_incomplete) {
  EXPECT_EQ(exit_code(counts_of({{Verdict::pass, 9}}), 9, false, false), ExitCode::incomplete);
}

TEST(ExitCode, a_planned_result_that_is_missing_is_incomplete) {
  EXPECT_EQ(exit_code(counts_of({{Verdict::pass, 9}}), 10, true, false), ExitCode::incomplete);
}

TEST(ExitCode, a_result_that_nobody_planned_is_incomplete) {
  EXPECT_EQ(exit_code(counts_of({{Verdict::pass, 9}}), 8, true, false), ExitCode::incomplete);
}

TEST(ExitCode, nothing_but_skips_is_environment) {
  EXPECT_EQ(code_of({{Verdict::skip, 3}}), ExitCode::environment);
  EXPECT_EQ(code_of({{Verdict::skip, 3}, {Verdict::waived, 1}}), ExitCode::environment);
  EXPECT_EQ(exit_code(VerdictCounts{}, 0, true, false), ExitCode::environment);
}

TEST(ExitCode, a_fail_without_any_pass_is_failed_and_not_environment) {
  EXPECT_EQ(code_of({{Verdict::skip, 3}, {Verdict::fail, 1}}), ExitCode::failed);
}

TEST(ExitCode, failed_goes_before_incomplete) {
  EXPECT_EQ(code_of({{Verdict::fail, 1}, {Verdict::not_run, 1}}), ExitCode::failed);
}

TEST(ExitCode, worst_follows_70_2_5_1_4_3_6_0) {
  std::vector<ExitCode> codes = {
      ExitCode::ok,     ExitCode::inconclusive, ExitCode::regression, ExitCode::incomplete,
      ExitCode::failed, ExitCode::environment,  ExitCode::usage,      ExitCode::internal};
  const std::vector<int> expected = {70, 2, 5, 1, 4, 3, 6, 0};
  for (const int code : expected) {
    EXPECT_EQ(static_cast<int>(worst(codes)), code);
    codes.pop_back();
  }
  EXPECT_EQ(worst(codes), ExitCode::ok);
}

}  // namespace
}  // namespace tidemark
