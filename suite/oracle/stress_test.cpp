// What is said of a stress: which SM, which box, and that none is not right either.
#include "suite/oracle/stress.hpp"

#include <gtest/gtest.h>

#include "suite/case.hpp"
#include "suite/runner.hpp"

namespace tidemark {
namespace {

constexpr Stress kMixed{.boxes = StressBoxes::mixed, .memory_bytes = 1 << 20, .seed = 5};

std::vector<Miscompare> found_with(const char* fault, const Stress& op = kMixed) {
  const auto device = make_device(DeviceKind::virtual_device, fault_named(fault));
  return compare(op, device->run(op), 3);
}

TEST(JudgeStress, NamesTheSmAndTheFirstWrongWord) {
  const std::vector<Miscompare> found = found_with("stress_bit");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].row, 3U);
  EXPECT_EQ(found[0].what, "stress: box");
  EXPECT_EQ(found[0].wrong_bytes, 16U);
  EXPECT_EQ(found[0].text.substr(0, 5), "SM 2:");
  EXPECT_NE(found[0].expected, found[0].actual);
}

TEST(JudgeStress, NamesTheLostBox) {
  const std::vector<Miscompare> found = found_with("stress_lost");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].what, "stress: lost box");
  EXPECT_EQ(found[0].text.substr(0, 5), "SM 2:");
}

TEST(JudgeStress, TellsAGuardFromABox) {
  const std::vector<Miscompare> found = found_with("stress_overrun");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].what, "stress: guard");
  EXPECT_EQ(found[0].first_offset, 0U);
}

TEST(JudgeStress, TellsWrongMemoryFromAWrongCopy) {
  RunResult result = make_device(DeviceKind::virtual_device)->run(kMixed);
  result.stress[1].wrong_boxes = result.stress[1].wrong_words = 1;
  result.wrong_words = {{.seed = 5, .iteration = 7, .sm = 1, .expected = 3, .actual = 4}};
  const std::string of_copy = compare(kMixed, result, 0).at(0).text;
  result.wrong_words[0].in_memory = 4;
  const std::string of_memory = compare(kMixed, result, 0).at(0).text;
  EXPECT_GT(of_memory.size(), of_copy.size());
  EXPECT_EQ(of_memory.substr(0, of_copy.size()), of_copy);
}

TEST(JudgeStress, NamesTheSmWhoseSumsAreWrongInMemory) {
  const std::vector<Miscompare> found =
      found_with("stress_write_lost", {.boxes = StressBoxes::mixed,
                                       .copy = StressCopy::reduce,
                                       .memory_bytes = 32 << 20,
                                       .seed = 5});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].what, "stress: memory");
  EXPECT_EQ(found[0].text.substr(0, 5), "SM 2:");
}

TEST(JudgeStress, NamesNoSmForWordsThatNoneOrAllWrite) {
  const std::vector<Miscompare> found = found_with("stress_stray", {.boxes = StressBoxes::mixed,
                                                                    .copy = StressCopy::store,
                                                                    .memory_bytes = 32 << 20,
                                                                    .seed = 5});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].what, "stress: memory");
  EXPECT_EQ(found[0].first_offset, (32U << 20) - 16);
  EXPECT_EQ(found[0].text.find("SM 2"), std::string::npos);
}

TEST(JudgeStress, NamesTheSmThatMultipliesOtherwise) {
  Stress op = kMixed;
  op.products = true;
  const std::vector<Miscompare> found = found_with("stress_product", op);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].what, "stress: product");
  EXPECT_EQ(found[0].text.substr(0, 5), "SM 2:");
}

TEST(JudgeStress, IsNoPassWhereNoSmCheckedABox) {
  EXPECT_EQ(compare(kMixed, RunResult{}, 0).size(), 1U);
}

TEST(JudgeStress, HasNoMetricWhereNothingIsTimed) {
  const auto device = make_device(DeviceKind::virtual_device);
  const Outcome outcome = run_case(*case_named("stress.bulk"), *device, {.seed = 4});
  EXPECT_EQ(outcome.judgement, Judgement::pass) << outcome.reason;
  EXPECT_TRUE(outcome.metrics.empty());
}

TEST(JudgeStress, FailsItsCase) {
  const auto device = make_device(DeviceKind::virtual_device, fault_named("stress_bit"));
  const Outcome outcome = run_case(*case_named("stress.load"), *device, {.seed = 4});
  EXPECT_EQ(outcome.judgement, Judgement::fail);
  EXPECT_EQ(outcome.rows_failed, 3U);
  EXPECT_EQ(outcome.sm_rows_run, (std::vector<std::uint32_t>{3, 3, 3, 3}));
  EXPECT_EQ(outcome.sm_rows_failed, (std::vector<std::uint32_t>{0, 0, 3}));
}

}  // namespace
}  // namespace tidemark
