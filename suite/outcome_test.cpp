// What comes of a case: its verdict, miscompares, metrics and observations.
#include "suite/outcome.hpp"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

Outcome of_one_row(Judgement judgement, const char* reason, std::int32_t cuda_error) {
  Outcome outcome;
  outcome.judgement = judgement;
  outcome.reason = reason;
  outcome.cuda_error = cuda_error;
  outcome.device_spent = cuda_error != 0;
  outcome.rows_planned = outcome.rows_run = 1;
  outcome.rows_failed = judgement == Judgement::fail ? 1 : 0;
  outcome.notes = {"note of " + std::to_string(cuda_error)};
  outcome.descriptors = 5;
  return outcome;
}

TEST(AddRows, CountsRowsAndKeepsEachNote) {
  Outcome all;
  add_rows(of_one_row(Judgement::pass, "", 716), all);
  add_rows(of_one_row(Judgement::pass, "", 715), all);
  EXPECT_EQ(all.judgement, Judgement::pass);
  EXPECT_EQ(all.rows_run, 2U);
  EXPECT_EQ(all.rows_failed, 0U);
  EXPECT_EQ(all.cuda_error, 715);
  EXPECT_TRUE(all.device_spent);
  EXPECT_EQ(all.notes, (std::vector<std::string>{"note of 716", "note of 715"}));
  EXPECT_NE(all.descriptors, 0U);
}

TEST(AddRows, KeepsTheFirstRowThatFailed) {
  Outcome all;
  add_rows(of_one_row(Judgement::pass, "", 716), all);
  add_rows(of_one_row(Judgement::fail, "first", 700), all);
  add_rows(of_one_row(Judgement::fail, "second", 0), all);
  add_rows(of_one_row(Judgement::pass, "", 715), all);
  EXPECT_EQ(all.judgement, Judgement::fail);
  EXPECT_EQ(all.reason, "first");
  EXPECT_EQ(all.rows_run, 4U);
  EXPECT_EQ(all.rows_failed, 2U);
}

TEST(AddRows, KeepsTheErrorOfTheRowThatFailed) {
  Outcome all;
  add_rows(of_one_row(Judgement::fail, "ended without any", 0), all);
  add_rows(of_one_row(Judgement::pass, "", 715), all);
  EXPECT_EQ(all.cuda_error, 0);
}

TEST(AddRows, TheGravestRowSpeaks) {
  Outcome all;
  add_rows(of_one_row(Judgement::fail, "a byte", 0), all);
  add_rows(of_one_row(Judgement::sticky, "row 7", 719), all);
  EXPECT_EQ(all.judgement, Judgement::sticky);
  EXPECT_EQ(all.reason, "row 7");
  EXPECT_EQ(all.cuda_error, 719);
}

TEST(AddRows, AWaitForOtherGpusIsGraverThanAFail) {
  Outcome all;
  add_rows(of_one_row(Judgement::fail, "a byte", 0), all);
  add_rows(of_one_row(Judgement::others_late, "waits for GPU 1", 0), all);
  EXPECT_EQ(all.judgement, Judgement::others_late);
}

TEST(AddRows, ATimeoutOfThisGpuIsGraverThanAWaitForOthers) {
  Outcome all;
  add_rows(of_one_row(Judgement::timeout, "the kernel did not end", 0), all);
  add_rows(of_one_row(Judgement::others_late, "waits for GPU 1", 0), all);
  EXPECT_EQ(all.judgement, Judgement::timeout);
  EXPECT_EQ(all.reason, "the kernel did not end");
}

TEST(AddRows, SayHowManyAreLeft) {
  Outcome all;
  all.rows_left = 5;
  Outcome rows = of_one_row(Judgement::sticky, "", 719);
  rows.rows_left = 2;
  rows.suspects = 3;
  add_rows(rows, all);
  EXPECT_EQ(all.rows_left, 2U);
  EXPECT_EQ(all.suspects, 3U);
}

TEST(AddRows, SkipIsNoPass) {
  Outcome all;
  add_rows(of_one_row(Judgement::skip, "no such instruction", 0), all);
  add_rows(of_one_row(Judgement::pass, "", 715), all);
  EXPECT_EQ(all.judgement, Judgement::skip);
  EXPECT_EQ(all.reason, "no such instruction");
}

}  // namespace

}  // namespace tidemark
