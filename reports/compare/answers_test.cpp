// What drivers answered otherwise: which calls, by what they have in common, and which bits.
#include "reports/compare/answers.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reports/render/show.hpp"
#include "reports/testing/two_sides.hpp"

namespace tidemark {
namespace {

const SyntheticFleet kTwoGpus = {.gpus = 2, .cases = 2, .seed = 3};

std::uint32_t index_of(Report& report, const std::string& text) {
  report.strings.push_back(text);
  return static_cast<std::uint32_t>(report.strings.size() - 1);
}

/// Calls of rank 2 and 3, in f32 and u8, each sound and with a stride of 0; and one limit.
Report launch(bool fresh, std::uint32_t number = 0) {
  Report made = synthetic_launch(kTwoGpus, number, fresh, {});
  for (const char* const question : {"a sound call", "a stride of 0"})
    for (const char* const subject :
         {"tiled, f32, rank 2", "tiled, u8, rank 2", "tiled, f32, rank 3", "tiled, u8, rank 3"})
      made.answers.push_back({.result_id = 0,
                              .subject = index_of(made, subject),
                              .question = index_of(made, question),
                              .unit = index_of(made, "CUresult"),
                              .answer = 0,
                              .map = {1, 2, 3}});
  for (const std::uint32_t result : {2U, 3U})
    made.answers.push_back({.result_id = result,
                            .subject = index_of(made, "device attribute"),
                            .question = index_of(made, "97"),
                            .unit = 0,
                            .answer = 232448,
                            .map = {}});
  return made;
}

AnswerComparison compared(const Report& fresh) { return held({launch(false)}, {fresh}).answers; }

TEST(Answers, EqualOnesAreSilent) {
  const AnswerComparison made = compared(launch(true));
  EXPECT_EQ(made.compared, 10U);  // the limit of each GPU
  EXPECT_TRUE(made.changes.empty());
}

TEST(Answers, CallsThatAreRefusedNowAreOneChangeByWhatTheyHaveInCommon) {
  Report fresh = launch(true);
  for (const std::size_t row : {2U, 3U, 6U, 7U}) {
    fresh.answers[row].answer = 1;
    fresh.answers[row].map = {};
  }
  const AnswerComparison made = compared(fresh);
  ASSERT_EQ(made.changes.size(), 1U);
  EXPECT_EQ(made.changes[0].in_common, (std::vector<std::string>{"tiled", "rank 3"}));
  EXPECT_EQ(made.changes[0].questions, 4U);
  EXPECT_EQ(made.changes[0].similar, 4U);
  EXPECT_EQ(made.changes[0].fresh, std::set<std::int64_t>{1});
}

TEST(Answers, ABitOfMapsIsNamedByByteAndBit) {
  Report fresh = launch(true);
  for (const std::size_t row : {0U, 2U}) fresh.answers[row].map[1] ^= 1LL << (85 - 64);
  const AnswerComparison made = compared(fresh);
  ASSERT_EQ(made.changes.size(), 1U);
  EXPECT_TRUE(made.changes[0].of_maps());
  EXPECT_EQ(made.changes[0].bits[10], 0x20);
  EXPECT_EQ(made.changes[0].in_common, (std::vector<std::string>{"tiled", "f32", "a sound call"}));
}

TEST(Answers, ALimitOfOneGpuIsAChangeOfItsOwn) {
  Report fresh = launch(true);
  fresh.answers.back().answer = 231424;
  const AnswerComparison made = compared(fresh);
  ASSERT_EQ(made.changes.size(), 1U);
  EXPECT_EQ(made.changes[0].question, "97");
  EXPECT_EQ(made.changes[0].fresh, std::set<std::int64_t>{231424});
  EXPECT_EQ(made.changes[0].gpus, std::vector<std::uint32_t>{1});
}

TEST(Answers, ThatVariedInTheBaseAreNoChange) {
  Report other = launch(false, 1);
  other.answers[0].answer = 1;
  EXPECT_TRUE(held({launch(false), other}, {launch(true)}).answers.changes.empty());
  EXPECT_EQ(held({launch(false)}, {launch(true), other}).answers.changes.size(), 1U);
}

TEST(Answers, ThatChangedAreAFinding) {
  Report fresh = launch(true);
  fresh.answers[0].map[3] = 1;
  EXPECT_TRUE(findings_of(held({launch(false)}, {fresh})).contains("answers_changed"));
  EXPECT_FALSE(findings_of(held({launch(false)}, {launch(true)})).contains("answers_changed"));
}

TEST(Answers, OfACaseThatDidNotPassOnOneSideSayNothing) {
  Report fresh = launch(true);
  fresh.answers.resize(8);
  for (const std::uint32_t result : {2U, 3U}) fresh.results[result].verdict = Verdict::skip;
  const AnswerComparison made = compared(fresh);
  EXPECT_EQ(made.compared, 8U);
  EXPECT_TRUE(made.changes.empty());
}

TEST(Answers, OfACaseThatFailsNowAreCompared) {
  Report fresh = launch(true);
  for (const std::uint32_t result : {0U, 1U}) fresh.results[result].verdict = Verdict::fail;
  fresh.answers[2].answer = 1;
  EXPECT_EQ(compared(fresh).changes.size(), 1U);
}

TEST(Answers, ThatAreGoneThoughTheirCasePassedAreAChange) {
  Report fresh = launch(true);
  fresh.answers.clear();
  const AnswerComparison made = compared(fresh);
  ASSERT_EQ(made.changes.size(), 2U);
  EXPECT_TRUE(made.changes[0].fresh.empty());
  EXPECT_EQ(made.changes[0].questions, 8U);
}

TEST(Answers, OfTwoGpusThatExchangeTheirLimitsChange) {
  Report base = launch(false), fresh = launch(true);
  base.answers[8].answer = fresh.answers[9].answer = 100;
  EXPECT_EQ(held({base}, {fresh}).answers.changes.size(), 2U);
}

TEST(Answers, TheBitsOfAMapAreThoseOfAnAcceptedOne) {
  Report refused = launch(false, 1), fresh = launch(true);
  refused.answers[0].answer = 1;
  refused.answers[0].map = {};
  fresh.answers[0].map[1] ^= 1LL << (85 - 64);
  const AnswerComparison made = held({launch(false), refused}, {fresh}).answers;
  ASSERT_EQ(made.changes.size(), 1U);
  EXPECT_EQ(made.changes[0].bits[10], 0x20);
}

TEST(Answers, OfAHostileFileTakeNoLongerForItsManyParts) {
  Report base = launch(false), fresh = launch(true);
  std::string parts;
  for (int i = 0; i < 100'000; ++i) parts += fmt::format("a{}, ", i);
  base.answers[0].subject = index_of(base, parts);
  fresh.answers[0].subject = index_of(fresh, parts);
  fresh.answers[0].answer = 1;
  EXPECT_EQ(held({base}, {fresh}).answers.changes[0].in_common.size(), 10U);
}

TEST(Answers, AreNotComparedAcrossSuites) {
  Report fresh = launch(true);
  fresh.answers[0].answer = 1;
  fresh.provenance.push_back({index_of(fresh, "suite_tree"), index_of(fresh, "another")});
  Report base = launch(false);
  base.provenance.push_back({index_of(base, "suite_tree"), index_of(base, "one")});
  EXPECT_TRUE(held({base}, {fresh}).answers.changes.empty());
}

TEST(Answers, StandAmongTheChangesOfEachFormat) {
  Report fresh = launch(true);
  fresh.answers[0].answer = 1;
  const Comparison comparison = held({launch(false)}, {fresh});
  EXPECT_TRUE(has(show_comparison(comparison, {}), "ANSWERED 1 of 1 call with"));
  EXPECT_TRUE(has(show_comparison(comparison, {}, "json"), "\"answers_compared\""));
  EXPECT_TRUE(has(show_comparison(comparison, {}, "csv"), "\nanswer,"));
  EXPECT_TRUE(has(show_comparison(comparison, {}, "junit"), "ANSWERED 1 of 1 call"));
}

}  // namespace
}  // namespace tidemark
