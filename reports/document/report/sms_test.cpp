// Which SMs rows visited, and on which of them rows failed: lines, and a map a GPU.
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "reports/document/report/document.hpp"
#include "reports/render/show.hpp"
#include "reports/testing/example_launch.hpp"
#include "reports/testing/said.hpp"

namespace tidemark {
namespace {

/// GPUs of 132 SMs, of which so many were visited, each by ten rows. Of fewer than two GPUs only
/// its table `sms` fits together.
Report visited(const std::vector<std::uint32_t>& sms) {
  Report report = example();
  report.sms.clear();
  report.gpus.resize(sms.size(), report.gpus[0]);
  for (std::uint32_t gpu = 0; gpu < sms.size(); ++gpu) {
    report.gpus[gpu].gpu_id = gpu;
    for (std::uint32_t sm = 0; sm < sms[gpu]; ++sm) {
      report.sms.push_back({.gpu_id = gpu, .sm = sm, .rows_run = 10, .rows_failed = 0});
    }
  }
  return report;
}

TEST(SmLines, AreNoneWhereNoSmIsKnown) { EXPECT_EQ(sm_lines(visited({0, 0})).visited, ""); }

TEST(SmLines, OfGpusThatAreAlikeAreOne) {
  EXPECT_EQ(sm_lines(visited({132})).visited, "SMs: 132 of 132 visited");
  EXPECT_EQ(sm_lines(visited({132, 132})).visited, "SMs: 132 of 132 visited on each of 2 GPUs");
}

TEST(SmLines, NameTheGpusThatWereNotVisitedAsTheOthers) {
  EXPECT_EQ(sm_lines(visited({132, 131, 132, 0})).visited,
            "SMs: visited 132 of 132 on GPUs 0, 2; none on GPU 3; 131 of 132 on GPU 1");
}

TEST(SmLines, NameNoNumberOfSmsThatIsNotKnown) {
  Report report = visited({24});
  report.gpus[0].sm_count = 0;
  EXPECT_EQ(sm_lines(report).visited, "SMs: 24 visited");
  report.gpus[0].sm_count = 23;  // fewer than were visited
  EXPECT_EQ(sm_lines(report).visited, "SMs: 24 visited");
}

TEST(SmCount, OfNumbersWithAGapIsThatOfTheGpu) {
  Report report = visited({132});
  report.sms.back().sm = 143;
  const SmCount count = sm_count_of(report, 0);
  EXPECT_EQ(sm_lines(report).visited, "SMs: 132 of 132 visited");
  EXPECT_EQ(count.numbers, 144U);
  EXPECT_TRUE(count.has_gaps());
  EXPECT_TRUE(count.all_visited());
}

TEST(SmCount, OfNumbersWithAGapKnowsThatAnSmIsMissing) {
  Report report = visited({131});
  report.sms.back().sm = 143;
  const SmCount count = sm_count_of(report, 0);
  EXPECT_TRUE(count.has_gaps());
  EXPECT_FALSE(count.all_visited());
}

TEST(SmLines, OfOneRowThatFailedAccuseNoSm) {
  Report report = visited({132});
  report.sms[17].rows_failed = 1;
  EXPECT_EQ(sm_lines(report).named,
            std::vector<std::string>{"GPU 0 (node07.acme.example, slot 0, GPU-5f1c2d3e): SM 17: 1 "
                                     "of 10 rows failed"});
}

TEST(SmLines, NameTheOneSmThatFailed) {
  Report report = visited({132});
  report.sms[17].rows_failed = 3;
  EXPECT_EQ(sm_lines(report).named,
            std::vector<std::string>{"GPU 0 (node07.acme.example, slot 0, GPU-5f1c2d3e): SM 17: 3 "
                                     "of 10 rows failed, no other SM failed"});
}

TEST(SmLines, NameTheWorstOfManySmsThatFailed) {
  Report report = visited({132});
  for (const std::uint32_t sm : {5, 6, 7, 8, 9}) report.sms[sm].rows_failed = 1;
  report.sms[9].rows_failed = 10;
  EXPECT_EQ(sm_lines(report).named,
            std::vector<std::string>{"GPU 0 (node07.acme.example, slot 0, GPU-5f1c2d3e): rows "
                                     "failed on 5 of 132 SMs; most on SM 9: 10 of 10, SM 5: 1 of "
                                     "10, SM 6: 1 of 10, SM 7: 1 of 10"});
}

TEST(SmLines, NameTheSmThatCopiesFarSlowerThanTheOthers) {
  Report report = visited({132});
  for (SmRow& row : report.sms) row.rate = 51.7 + 0.2 * (row.sm % 2);
  EXPECT_EQ(sm_lines(report).named, std::vector<std::string>{});
  report.sms[5].rate = 48;
  ASSERT_EQ(sm_lines(report).named.size(), 1U);
  EXPECT_NE(sm_lines(report).named[0].find("SM 5 "), std::string::npos);
}

TEST(SmLines, NameTheSmWhoseLoadsTakeFarLonger) {
  Report report = visited({132});
  for (SmRow& row : report.sms) row.latency = 277 + row.sm % 92;
  EXPECT_EQ(sm_lines(report).named, std::vector<std::string>{});
  report.sms[7].latency = 600;
  ASSERT_EQ(sm_lines(report).named.size(), 1U);
  EXPECT_NE(sm_lines(report).named[0].find("SM 7 "), std::string::npos);
}

TEST(SmLines, NameNoSmBesideTooFewToTell) {
  Report report = visited({8});
  for (SmRow& row : report.sms) row.rate = row.sm == 3 ? 10 : 50;
  EXPECT_EQ(sm_lines(report).named, std::vector<std::string>{});
}

TEST(SmLines, BeginWithTheGpuOfWhichTheFewestSmsFailed) {
  Report report = visited({132, 132});
  report.sms[1].rows_failed = report.sms[2].rows_failed = 1;
  report.sms[132 + 3].rows_failed = 1;
  const std::vector<std::string> failed = sm_lines(report).named;
  ASSERT_EQ(failed.size(), 2U);
  EXPECT_TRUE(failed[0].starts_with("GPU 1 ")) << failed[0];
}

TEST(SmLines, StandInTheTerminalBehindTheRows) {
  Report report = visited({132, 132});
  report.sms[17].rows_failed = 3;
  EXPECT_TRUE(has(show(report, {}),
                  "\nSMs: 132 of 132 visited on each of 2 GPUs\n     GPU 0 (node07.acme.exa"
                  "mple, slot 0, GPU-5f1c2d3e): SM 17: 3 of 10 rows failed, no other SM\n       "
                  "failed\n"))
      << show(report, {});
}

TEST(SmLines, OfManyGpusAreCappedOnATerminal) {
  Report report = visited(std::vector<std::uint32_t>(6, 132));
  for (SmRow& row : report.sms) row.rows_failed = row.sm == 4 ? 1 : 0;
  EXPECT_TRUE(has(show(report, {}), "\n... and 2 more lines: --all shows all\n"));
  EXPECT_TRUE(has(show(report, {.all = true}), "\n     GPU 5 "));
}

}  // namespace

}  // namespace tidemark
