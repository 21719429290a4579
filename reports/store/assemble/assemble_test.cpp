// Journals of one launch become a report.
#include "reports/store/assemble/assembly.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "reports/base/error.hpp"
#include "reports/store/report.hpp"
#include "reports/testing/example_launch.hpp"
#include "reports/testing/said.hpp"

namespace tidemark {
namespace {

const ResultRow& result_of(const Report& report, std::string_view case_name, std::uint32_t gpu) {
  for (const ResultRow& result : report.results) {
    if (report.cases[result.case_id].name.view() == case_name && result.gpu_id == gpu) {
      return result;
    }
  }
  throw std::runtime_error("no such result");
}

std::string error_of(const std::vector<std::string>& journals) {
  return error_from([&] { assemble(journals, {}); });
}

OutcomeRecord attempt(std::uint32_t number, Verdict verdict, const std::string& reason) {
  OutcomeRecord record = example_outcome(1, "zfill.corner");
  record.attempt = number;
  record.verdict = verdict;
  record.reason = reason;
  return record;
}

/// The example launch, with these records for zfill.corner on GPU 1.
std::vector<std::string> journals_with(const std::vector<Record>& records) {
  std::vector<Record> second = {example_launch(1), example_node(1), example_gpu(1),
                                example_outcome(1, "load.tile.2d"), example_speed(1, 690)};
  second.insert(second.end(), records.begin(), records.end());
  second.push_back(example_end(1));
  return {example_journals()[0], journal_of(second)};
}

Verdict verdict_after(const std::vector<Record>& records) {
  return result_of(assemble(journals_with(records), {}), "zfill.corner", 1).verdict;
}

TEST(Assemble, EveryPlannedPairHasOneResult) {
  const Report report = example();
  EXPECT_EQ(report.results.size(), 6U);
  EXPECT_EQ(result_of(report, "load.tile.2d", 0).verdict, Verdict::pass);
  EXPECT_EQ(result_of(report, "zfill.corner", 1).verdict, Verdict::fail);
  EXPECT_EQ(report.text(result_of(report, "zfill.corner", 1).reason),
            "1 of 12 rows moved wrong bytes");
  EXPECT_TRUE(report.launch.complete);
  EXPECT_EQ(report.launch.incomplete_reason, "");
  EXPECT_EQ(report.launch.ranks_reported, 2U);
  EXPECT_EQ(report.launch.created_utc, "2026-09-01T00:00:00Z");
  EXPECT_EQ(report.launch.seed, 0xfedcba9876543210);
}

TEST(Assemble, RowsBySmAreSummedOverTheCasesOfEachGpu) {
  const Report report = example();
  ASSERT_EQ(report.sms.size(), 4U);
  const auto counts_of = [&report](std::size_t i) {
    const SmRow& row = report.sms[i];
    return std::array{row.gpu_id, row.sm, row.rows_run, row.rows_failed};
  };
  EXPECT_EQ(counts_of(0), (std::array{0U, 0U, 24U, 0U}));
  EXPECT_EQ(counts_of(1), (std::array{0U, 2U, 8U, 0U}));
  EXPECT_EQ(counts_of(2), (std::array{1U, 0U, 24U, 0U}));
  EXPECT_EQ(counts_of(3), (std::array{1U, 2U, 8U, 1U}));
}

TEST(Assemble, RowsBySmAreThoseOfTheAttemptThatAResultShows) {
  OutcomeRecord failed = attempt(1, Verdict::fail, "wrong"), passed = attempt(2, Verdict::pass, "");
  failed.sm_rows_run = {0, 0, 0, 7};
  failed.sm_rows_failed = {0, 0, 0, 7};
  const Report report = assemble(journals_with({failed, passed}), {});
  EXPECT_EQ(report.sms.back().sm, 3U);
  EXPECT_EQ(report.sms.back().rows_failed, 7U);
  EXPECT_EQ(report.sms[2].rows_run, 12U) << "those of load.tile.2d alone";
}

TEST(Assemble, EachSmKnowsTheFamiliesThatVisitedIt) {
  const Report report = example();  // of gemm, load and zfill
  EXPECT_EQ(report.sms.front().families, 0b110U);
  OutcomeRecord alone = attempt(1, Verdict::pass, "");
  alone.sm_rows_run = {0, 0, 0, 7};
  EXPECT_EQ(assemble(journals_with({alone}), {}).sms.back().families, 0b100U) << "zfill alone";
}

TEST(Assemble, RowsBySmThatNoColumnHoldsDoNotCostTheReport) {
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();
  OutcomeRecord first = example_outcome(1, "load.tile.2d"),
                second = attempt(1, Verdict::fail, "wrong");
  first.sm_rows_run = second.sm_rows_run = {kMost};
  first.sm_rows_failed = second.sm_rows_failed = {kMost};
  const Report report = assemble(
      std::vector<std::string>{example_journals()[0],
                               journal_of({example_launch(1), example_node(1), example_gpu(1),
                                           first, second, example_speed(1, 690), example_end(1)})},
      {});
  EXPECT_EQ(report.sms.back().rows_run, kMost);
  EXPECT_EQ(report.sms.back().rows_failed, kMost);
}

TEST(Assemble, AnSmNumberThatNoGpuHasDoesNotCostTheReport) {
  OutcomeRecord strange = attempt(1, Verdict::pass, "");
  strange.sm_rows_run.assign(65536, 1);
  const Report report = assemble(journals_with({strange}), {});
  EXPECT_EQ(report.sms.back().sm, kMostSms - 1);
}

TEST(Assemble, TheMiscompareBelongsToItsResult) {
  const Report report = example();
  ASSERT_EQ(report.miscompares.size(), 1U);
  EXPECT_EQ(report.miscompares[0].result_id, result_of(report, "zfill.corner", 1).result_id);
  EXPECT_EQ(report.miscompares[0].coordinate, (std::array<std::int64_t, 5>{3, 7, 0, 0, 0}));
  EXPECT_EQ(report.text(report.miscompares[0].parameters), R"({"box":[32,4]})");
}

TEST(Assemble, MetricsHaveTheirStatisticsAndSamples) {
  const Report report = example();
  ASSERT_EQ(report.metrics.size(), 2U);
  const MetricRow& second = report.metrics[1];
  EXPECT_EQ(second.result_id, result_of(report, "gemm.distributed.speed", 1).result_id);
  EXPECT_EQ(second.median, 691);
  EXPECT_EQ(second.mad, 1);
  EXPECT_EQ(second.n, 3U);
  EXPECT_EQ(second.first_sample, 3U);
  EXPECT_EQ(report.samples.at(5).value, 692);
  EXPECT_EQ(report.samples.at(5).metric_id, 1U);
}

TEST(Assemble, TelemetryIsTheMeanOfWhatWasRead) {
  OutcomeRecord speed = example_speed(1, 690);
  speed.metrics[0].samples[0].telemetry.sm_mhz = std::numeric_limits<float>::quiet_NaN();
  const Report report = assemble(
      std::vector<std::string>{
          example_journals()[0],
          journal_of({example_launch(1), example_node(1), example_gpu(1), speed, example_end(1)})},
      {});
  const ResultRow& result = result_of(report, "gemm.distributed.speed", 1);
  EXPECT_EQ(result.sm_mhz, 1715.0F);  // of 1710 and 1720
  EXPECT_EQ(result.throttle_reasons, 4U);
  EXPECT_TRUE(std::isnan(result_of(report, "load.tile.2d", 0).sm_mhz));
}

TEST(Assemble, PassAndFailOverAttemptsIsFlaky) {
  EXPECT_EQ(verdict_after({attempt(1, Verdict::fail, "wrong"), attempt(2, Verdict::pass, "")}),
            Verdict::flaky);
  EXPECT_EQ(verdict_after({attempt(1, Verdict::pass, ""), attempt(2, Verdict::hang, "hung")}),
            Verdict::flaky);
}

/// Of zfill.corner on GPU 1, from second 1000 to 1002.
Verdict verdict_with(const EventRecord& event) {
  OutcomeRecord passed = attempt(1, Verdict::pass, "");
  passed.start_unix_s = 1000;
  passed.seconds = 2;
  return verdict_after({passed, event});
}

TEST(Assemble, APassDuringAnUncontainedMemoryErrorIsNone) {
  for (const int xid : {48, 95, 140})
    EXPECT_EQ(verdict_with({.at_unix_s = 1001, .gpu = 1, .source = "nvml", .code = xid}),
              Verdict::fail)
        << xid;
  EXPECT_EQ(verdict_with({.at_unix_s = 1002.5,
                          .gpu = 1,
                          .source = "nvml",
                          .code = 0,
                          .text = "double-bit ECC error"}),
            Verdict::fail);
}

TEST(Assemble, APassKeepsItsVerdictBesideOtherEvents) {
  EXPECT_EQ(verdict_with({.at_unix_s = 999, .gpu = 1, .source = "nvml", .code = 95}), Verdict::pass)
      << "before it began";
  EXPECT_EQ(verdict_with({.at_unix_s = 1004, .gpu = 1, .source = "nvml", .code = 95}),
            Verdict::pass)
      << "after it had ended";
  EXPECT_EQ(verdict_with({.at_unix_s = 1001, .gpu = 0, .source = "nvml", .code = 95}),
            Verdict::pass)
      << "another GPU's";
  EXPECT_EQ(verdict_with({.at_unix_s = 1001, .gpu = 1, .source = "nvml", .code = 94}),
            Verdict::pass)
      << "contained: it ends the program that it hits";
  EXPECT_EQ(verdict_with({.at_unix_s = 1001, .gpu = 1, .source = "signal", .code = 48}),
            Verdict::pass)
      << "a signal of the same number";
}

TEST(Assemble, ASpoiledPassSaysWhatSpoiledIt) {
  OutcomeRecord passed = attempt(1, Verdict::pass, "");
  passed.start_unix_s = 1000;
  passed.seconds = 2;
  const Report report = assemble(
      journals_with(
          {passed,
           EventRecord{
               .at_unix_s = 1001, .gpu = 1, .source = "nvml", .code = 95, .text = "Xid 95"}}),
      {});
  EXPECT_EQ(report.text(result_of(report, "zfill.corner", 1).reason),
            "passed, but its GPU said 'Xid 95' 1.0 s after it began: memory held wrong bytes, so "
            "it is no pass");
}

TEST(Assemble, ALostGpuIsNeverAFlakyCase) {
  EXPECT_EQ(verdict_after({attempt(1, Verdict::gpu_lost, "Xid 79"), attempt(2, Verdict::pass, "")}),
            Verdict::gpu_lost);
  EXPECT_EQ(verdict_after({attempt(1, Verdict::pass, ""), attempt(2, Verdict::gpu_lost, "Xid 79")}),
            Verdict::gpu_lost);
  EXPECT_EQ(verdict_after({attempt(1, Verdict::unkillable, "D"), attempt(2, Verdict::fail, "x")}),
            Verdict::unkillable);
}

TEST(Assemble, AFlakyResultShowsTheBadAttemptAndCounts) {
  const Report report = assemble(
      journals_with({attempt(1, Verdict::fail, "wrong"), attempt(2, Verdict::pass, "")}), {});
  const ResultRow& result = result_of(report, "zfill.corner", 1);
  EXPECT_EQ(result.attempt, 1U);
  EXPECT_EQ(result.attempts, 2U);
  EXPECT_EQ(report.text(result.reason), "1 of 2 attempts did not pass; attempt 1: wrong");
}

TEST(Assemble, TheOrderOfAttemptsIsTheirNumberNotTheirLine) {
  EXPECT_EQ(verdict_after({attempt(2, Verdict::crash, "b"), attempt(1, Verdict::fail, "a")}),
            Verdict::crash);
}

TEST(Assemble, AFailureIsNotHiddenByASkipOrAToolError) {
  EXPECT_EQ(verdict_after({attempt(1, Verdict::fail, "a"), attempt(2, Verdict::skip, "b")}),
            Verdict::fail);
  EXPECT_EQ(verdict_after({attempt(1, Verdict::sticky, "a"), attempt(2, Verdict::tool_error, "b")}),
            Verdict::sticky);
}

TEST(Assemble, AToolErrorThatPassedAgainIsAPass) {
  EXPECT_EQ(verdict_after({attempt(1, Verdict::tool_error, "a"), attempt(2, Verdict::pass, "")}),
            Verdict::pass);
}

TEST(Assemble, AStartWithoutOutcomeWasRunningWhenTheLaunchEnded) {
  const Report report =
      assemble(journals_with({StartRecord{.gpu = 1, .case_name = "zfill.corner"}}), {});
  const ResultRow& result = result_of(report, "zfill.corner", 1);
  EXPECT_EQ(result.verdict, Verdict::not_run);
  EXPECT_EQ(report.text(result.reason), "was running when the launch ended: zfill.corner");
  EXPECT_EQ(result.attempt, 0U);
}

TEST(Assemble, AnAttemptStillRunningTakesTheEarlierPassAway) {
  EXPECT_EQ(verdict_after({attempt(1, Verdict::pass, ""),
                           StartRecord{.gpu = 1, .case_name = "zfill.corner", .attempt = 2}}),
            Verdict::not_run);
  EXPECT_EQ(verdict_after({attempt(1, Verdict::fail, "wrong"),
                           StartRecord{.gpu = 1, .case_name = "zfill.corner", .attempt = 2}}),
            Verdict::fail);
}

TEST(Assemble, WhatWasNeverHeardOfDidNotRun) {
  const Report report = assemble(journals_with({}), {});
  const ResultRow& result = result_of(report, "zfill.corner", 1);
  EXPECT_EQ(result.verdict, Verdict::not_run);
  EXPECT_EQ(report.text(result.reason), "rank 1 ended without running it");
}

TEST(Assemble, ASilentRankMakesItIncompleteAndItsResultsNotRun) {
  const Report report = assemble(std::vector<std::string>{example_journals()[0]}, {});
  EXPECT_EQ(report.results.size(), 6U);
  EXPECT_FALSE(report.launch.complete);
  EXPECT_EQ(report.launch.incomplete_reason, "rank 1 silent: no journal");
  EXPECT_EQ(report.launch.ranks_reported, 1U);
  EXPECT_EQ(report.gpus.at(1).reported, 0);
  EXPECT_EQ(report.gpus.at(1).node_id, kNoRow);
  EXPECT_EQ(report.text(result_of(report, "load.tile.2d", 1).reason), "no rank reported GPU 1");
}

TEST(Assemble, ASilentRankIsNamedWithTheHostThatRank0FoundItOn) {
  LaunchRecord launch = example_launch(0);
  launch.hosts = {"node06", "node07.acme.example"};
  const Report report =
      assemble(std::vector<std::string>{journal_of({launch, example_node(0), example_gpu(0)})}, {});
  EXPECT_TRUE(
      has(report.launch.incomplete_reason, "rank 1 (node07.acme.example) silent: no journal"))
      << report.launch.incomplete_reason;
}

TEST(Assemble, ARankWithoutEndRecordMakesItIncomplete) {
  const Report report = assemble(
      std::vector<std::string>{example_journals()[0],
                               journal_of({example_launch(1), example_node(1), example_gpu(1),
                                           example_outcome(1, "load.tile.2d")})},
      {});
  EXPECT_FALSE(report.launch.complete);
  EXPECT_EQ(report.launch.incomplete_reason, "rank 1 (node07.acme.example) did not get to the end");
  EXPECT_EQ(result_of(report, "load.tile.2d", 1).verdict, Verdict::pass);
  EXPECT_EQ(report.text(result_of(report, "zfill.corner", 1).reason), "rank 1 did not get to it");
}

TEST(Assemble, ARankThatDiedBehindTheFirstLineOfItsJournalIsNamedWithItsHost) {
  LaunchRecord launch = example_launch(1);
  launch.hosts = {"node06", "node07.acme.example"};
  const Report report =
      assemble(std::vector<std::string>{example_journals()[0], journal_of({launch})}, {});
  EXPECT_EQ(report.launch.incomplete_reason, "rank 1 (node07.acme.example) did not get to the end");
}

TEST(Assemble, TheRankThatDiedIsNamedBeforeThoseThatWereStoppedForIt) {
  const Report report = assemble(
      std::vector<std::string>{
          journal_of({example_launch(0),
                      EndRecord{.rank = 0, .complete = false, .reason = "stopped by SIGTERM"}}),
          journal_of({example_launch(1), example_node(1),
                      StartRecord{.gpu = 1, .case_name = "zfill.corner"}})},
      {.incomplete_reason = "rank 0 was gone"});
  EXPECT_EQ(report.launch.incomplete_reason,
            "rank 1 (node07.acme.example), last at zfill.corner, did not get to the end; rank 0: "
            "stopped by SIGTERM; rank 0 was gone");
}

TEST(Assemble, WhichOfTwoDeadRanksWasFirstIsNotKnown) {
  EXPECT_EQ(assemble(std::vector<std::string>{journal_of({example_launch(0)}),
                                              journal_of({example_launch(1)})},
                     {})
                .launch.incomplete_reason,
            "rank 0 did not get to the end; rank 1 did not get to the end (which of them was first "
            "is not known)");
}

// Ranks that a launcher ended for rank 0 before they had a journal are no more to blame than it.
TEST(Assemble, WhetherASilentRankOrOneThatDidNotEndWasFirstIsNotKnown) {
  EXPECT_EQ(
      assemble(std::vector<std::string>{journal_of({example_launch(0)})}, {})
          .launch.incomplete_reason,
      "rank 1 silent: no journal; rank 0 did not get to the end (which of them was first is not "
      "known)");
}

TEST(Assemble, AnEndRecordThatSaysSoMakesItIncomplete) {
  std::vector<std::string> journals = example_journals();
  journals[1] = journal_of(
      {example_launch(1), EndRecord{.rank = 1, .complete = false, .reason = "time limit"}});
  EXPECT_EQ(assemble(journals, {}).launch.incomplete_reason, "rank 1: time limit");
}

TEST(Assemble, TheCallerCanSayThatItIsIncomplete) {
  const Report report = assemble(example_journals(), {.incomplete_reason = "rank 0 is gone"});
  EXPECT_FALSE(report.launch.complete);
  EXPECT_EQ(report.launch.incomplete_reason, "rank 0 is gone");
}

TEST(Assemble, ADamagedLineMakesItIncomplete) {
  std::vector<std::string> journals = example_journals();
  journals[0] += "{\"type\":\"event\"\n";
  const Report report = assemble(journals, {});
  EXPECT_FALSE(report.launch.complete);
  EXPECT_EQ(report.launch.damaged_lines, 1U);
  EXPECT_EQ(report.launch.incomplete_reason, "1 damaged journal lines were left out");
}

TEST(Assemble, AnOutcomeNeverPlannedMakesItIncomplete) {
  const Report unknown_case =
      assemble(journals_with({attempt(1, Verdict::pass, ""), example_outcome(1, "no.such")}), {});
  EXPECT_EQ(unknown_case.launch.incomplete_reason,
            "an outcome (pass) of no.such on GPU 1 was never planned");
  const Report unknown_gpu = assemble(
      journals_with({attempt(1, Verdict::pass, ""), example_outcome(2, "zfill.corner")}), {});
  EXPECT_FALSE(unknown_gpu.launch.complete);
  EXPECT_EQ(unknown_gpu.results.size(), 6U);
}

TEST(Assemble, TwoRanksThatClaimOneGpuMakeItIncomplete) {
  const Report report =
      assemble(journals_with({attempt(1, Verdict::pass, ""), example_gpu(0)}), {});
  EXPECT_EQ(report.launch.incomplete_reason, "rank 0 reported GPU 0, which is another rank's");
}

TEST(Assemble, RanksOfOneMachineShareItsRow) {
  const Report report = example();
  ASSERT_EQ(report.nodes.size(), 1U);
  EXPECT_EQ(report.nodes[0].ranks, 2U);
  EXPECT_EQ(report.gpus[1].node_id, 0U);
}

TEST(Assemble, EventsStandInOrderOfTime) {
  const Report report = assemble(
      journals_with({attempt(1, Verdict::pass, ""), EventRecord{.at_unix_s = 9, .text = "late"},
                     EventRecord{.at_unix_s = 5, .text = "early"}}),
      {});
  EXPECT_EQ(report.text(report.events.at(0).text), "early");
}

TEST(Assemble, AnEventKnowsItsRankAndItsGpu) {
  const Report report = assemble(
      journals_with({attempt(1, Verdict::pass, ""), EventRecord{.gpu = 0, .text = "of GPU 0"},
                     EventRecord{.text = "of no GPU"}}),
      {});
  EXPECT_EQ(report.events.at(0).rank, 1U);
  EXPECT_EQ(report.events.at(0).gpu_id, 0U);
  EXPECT_EQ(report.events.at(1).gpu_id, kNoRow);
}

TEST(Assemble, WhatNeverRanHasNeitherStartNorDuration) {
  const Report report = assemble(journals_with({}), {});
  EXPECT_EQ(result_of(report, "zfill.corner", 1).verdict, Verdict::not_run);
  EXPECT_TRUE(std::isnan(result_of(report, "zfill.corner", 1).start_unix_s));
  EXPECT_TRUE(std::isnan(result_of(report, "zfill.corner", 1).seconds));
  EXPECT_EQ(result_of(report, "load.tile.2d", 1).seconds, 0.5);
}

TEST(Assemble, ASampleOfNoKnownMomentSaysSo) {
  OutcomeRecord speed = example_speed(1, 690);
  speed.metrics[0].samples[1].telemetry.at_unix_s = 0;
  const Report report = assemble(
      std::vector<std::string>{example_journals()[0], journal_of({example_launch(1), example_gpu(1),
                                                                  speed, example_end(1)})},
      {});
  EXPECT_TRUE(std::isnan(report.samples.at(4).at_unix_s));
  EXPECT_EQ(report.samples.at(5).at_unix_s, 1788220804.0);
}

TEST(Assemble, ALaunchKnowsItsPlaceInTheSeries) {
  const Report report = example();
  EXPECT_EQ(report.launch.series_id, "3f1c0000-0000-4000-8000-000000000000");
  EXPECT_EQ(report.launch.launch, 2U);
  EXPECT_EQ(report.launch.launches, 5U);
}

TEST(Assemble, AnEventOfAGpuThatIsNotThereKeepsItsText) {
  const Report report = assemble(
      journals_with({attempt(1, Verdict::pass, ""), EventRecord{.gpu = 7, .text = "lost"}}), {});
  EXPECT_EQ(report.events.at(0).gpu_id, kNoRow);
  EXPECT_EQ(report.text(report.events.at(0).text), "GPU 7: lost");
}

TEST(Assemble, ProvenanceHoldsBuildArgumentsAndEnvironment) {
  const Report report = example();
  EXPECT_EQ(provenance_of(report, "kernels_tree"), "aaaa");
  EXPECT_EQ(provenance_of(report, "argument.1"), "run");
  EXPECT_EQ(provenance_of(report, "environment.CUDA_HOME"), "/opt/acme/cuda");
  EXPECT_EQ(provenance_of(report, "no such key"), "");
}

TEST(Assemble, ProvenanceNamesAGemmTableThatIsNotThatOfTheBuild) {
  EXPECT_EQ(provenance_of(example(), "gemm_table.hash"), "");
  LaunchRecord launch = example_launch(0);
  launch.gemm_table = "h200.json";
  launch.gemm_table_hash = "0123456789abcdef";
  const Report report = assemble(std::vector<std::string>{journal_of({launch})}, {});
  EXPECT_EQ(provenance_of(report, "gemm_table.name"), "h200.json");
  EXPECT_EQ(provenance_of(report, "gemm_table.hash"), "0123456789abcdef");
}

TEST(Assemble, AJournalOfAnotherLaunchIsLeftOutAndSaid) {
  LaunchRecord other = example_launch(1);
  other.run_id = "another";
  std::vector<std::string> journals = example_journals();
  journals.insert(journals.begin(), journal_of({other, example_failure(0, "load.tile.2d")}));
  const Report report = assemble(journals, {});
  EXPECT_EQ(report.launch.incomplete_reason,
            "a journal of another launch (run another) was left out");
  EXPECT_EQ(report.launch.ranks_reported, 2U);
  EXPECT_EQ(result_of(report, "load.tile.2d", 0).verdict, Verdict::pass);
}

TEST(Assemble, AJournalThatIsUnfitCostsItsOwnRankAlone) {
  const auto read = [](std::size_t i) {
    if (i == 1) throw UnfitFile("rank-00001.jsonl: has more than 9 bytes; remove it");
    return example_journals()[0];
  };
  const Report report = assemble({2, read}, {});
  const std::string& reason = report.launch.incomplete_reason;
  EXPECT_NE(reason.find("rank-00001.jsonl: has more than 9 bytes"), reason.npos) << reason;
  EXPECT_EQ(result_of(report, "load.tile.2d", 0).verdict, Verdict::pass);
  EXPECT_EQ(result_of(report, "load.tile.2d", 1).verdict, Verdict::not_run);
}

TEST(Assemble, JournalsThatAreAllUnfitSayWhy) {
  const auto read = [](std::size_t) -> std::string { throw UnfitFile("rank-0: is no file"); };
  EXPECT_THROW(assemble({1, read}, {}), UnfitFile);
}

TEST(Assemble, AForeignLineIsLeftOutAndSaid) {
  const LineOrigin other{.run_id = "another", .rank = 0, .number = 3};
  const Report report = assemble(
      std::vector<std::string>{
          numbered_journal_of(0, {example_launch(0), example_node(0), example_end(0)}) +
              to_line(example_outcome(0, "load.tile.2d"), other),
          example_journals()[1]},
      {});
  EXPECT_EQ(report.launch.incomplete_reason,
            "1 journal lines of another launch or rank were left out");
  EXPECT_EQ(result_of(report, "load.tile.2d", 0).verdict, Verdict::not_run);
  EXPECT_EQ(report.launch.damaged_lines, 1U);
}

TEST(Assemble, AMissingLineMakesItIncomplete) {
  std::string first = numbered_journal_of(
      0, {example_launch(0), example_outcome(0, "load.tile.2d"), example_end(0)});
  const std::size_t begin = first.find('\n') + 1;
  first.erase(begin, first.find('\n', begin) + 1 - begin);
  const Report report = assemble(std::vector<std::string>{first, example_journals()[1]}, {});
  EXPECT_EQ(report.launch.incomplete_reason, "1 journal lines are missing");
  EXPECT_EQ(report.launch.damaged_lines, 1U);
}

TEST(Assemble, RanksThatPlannedDifferentLaunchesAreRefused) {
  LaunchRecord other_seed = example_launch(1);
  other_seed.seed = 1;
  EXPECT_TRUE(has(error_of({example_journals()[0], journal_of({other_seed})}),
                  "ranks 0 and 1 planned different launches"));
  LaunchRecord other_cases = example_launch(1);
  other_cases.cases.pop_back();
  EXPECT_TRUE(
      has(error_of({example_journals()[0], journal_of({other_cases})}), "planned different"));
}

TEST(Assemble, WithoutALaunchRecordThereIsNoReport) {
  EXPECT_TRUE(has(error_of({journal_of({example_end(0)})}), "no launch record in 1 journals"));
  EXPECT_TRUE(has(error_of({}), "no launch record in 0 journals"));
  EXPECT_TRUE(has(error_of({}), "; add the journals of the other ranks, or run again"));
}

TEST(Assemble, ASecondJournalOfARankIsLeftOutAndSaid) {
  std::vector<std::string> journals = example_journals();
  journals.push_back(journals[0]);
  const Report report = assemble(journals, {});
  EXPECT_EQ(report.launch.incomplete_reason, "a second journal of rank 0 was left out");
  EXPECT_EQ(report.launch.ranks_reported, 2U);
}

TEST(Assemble, OfThousandsOfProblemsAFewAreSaid) {
  std::vector<std::string> journals = example_journals();
  journals.insert(journals.end(), 3000, journals[0]);
  const std::string reason =
      assemble(journals, {.anonymize = false, .incomplete_reason = "rank 0 was gone"})
          .launch.incomplete_reason;
  EXPECT_EQ(std::count(reason.begin(), reason.end(), ';'), 21) << reason;
  EXPECT_TRUE(reason.ends_with("; and 2980 more; rank 0 was gone")) << reason;
}

TEST(Assemble, ALaunchThatCannotBeIsRefused) {
  LaunchRecord huge = example_launch(0);
  huge.gpus = 1'000'000;
  huge.cases.resize(30);
  EXPECT_TRUE(has(error_of({journal_of({huge})}), "30000000 results"));
  LaunchRecord no_cases = example_launch(0);
  no_cases.gpus = 100'000'000;
  no_cases.cases.clear();
  EXPECT_TRUE(has(error_of({journal_of({no_cases})}), "100000000 GPUs, which cannot be"));
  LaunchRecord twice = example_launch(0);
  twice.cases.push_back(twice.cases[0]);
  EXPECT_TRUE(has(error_of({journal_of({twice})}), "case 'load.tile.2d' twice"));
  LaunchRecord beyond = example_launch(7);
  EXPECT_TRUE(has(error_of({journal_of({beyond})}), "of rank 7, but the launch has 2"));
}

}  // namespace

}  // namespace tidemark
